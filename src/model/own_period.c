/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/own_period.h"

#include "base/units.h"

#define PERIOD_NS NSEC_PER_SEC /* osnoise's default */

void own_period_begin(struct own_period *p, uint64_t started_ns)
{
	*p = (struct own_period){.end_ns = started_ns + PERIOD_NS};
}

static struct osnoise_period ended(const struct own_period *p, uint64_t runtime_ns)
{
	struct osnoise_period sum = p->sum;

	sum.count = 1;
	sum.runtime_ns = runtime_ns;
	sum.max_noise_ns = sum.noise_ns;
	return sum;
}

bool own_period_over(struct own_period *p, uint64_t now_ns, struct osnoise_period *done)
{
	if (now_ns < p->end_ns)
		return false;
	*done = ended(p, PERIOD_NS);
	p->sum = (struct osnoise_period){.noise_ns =
						 p->left_ns < PERIOD_NS ? p->left_ns : PERIOD_NS};
	p->left_ns -= p->sum.noise_ns;
	p->end_ns += PERIOD_NS;
	return true;
}

static void count(struct osnoise_period *sum, enum source_kind kind, uint32_t n)
{
	sum->nmi += kind == SOURCE_NMI ? n : 0;
	sum->irq += kind == SOURCE_IRQ || kind == SOURCE_VECTOR ? n : 0;
	sum->softirq += kind == SOURCE_SOFTIRQ ? n : 0;
	sum->thread += kind == SOURCE_THREAD ? n : 0;
}

void own_period_add(struct own_period *p, const struct sources *sources, const struct account *a)
{
	uint64_t end_ns = a->start_ns + a->duration_ns;

	p->sum.noise_ns += a->duration_ns;
	if (end_ns > p->end_ns) {
		p->left_ns = end_ns - p->end_ns;
		p->sum.noise_ns -= p->left_ns;
	}
	if (a->duration_ns > p->sum.max_single_ns)
		p->sum.max_single_ns = a->duration_ns;
	/* osnoise's rule: nothing that is known was in it. Records that are missing may be. */
	p->sum.hw += !a->intervals && !a->lost_ns;
	for (uint32_t i = 0; i < a->npieces; i++)
		count(&p->sum, sources->row[a->pieces[i].source]->kind, a->pieces[i].count);
}

bool own_period_rest(const struct own_period *p, uint64_t end_ns, struct osnoise_period *done)
{
	uint64_t start_ns = p->end_ns - PERIOD_NS;

	if (end_ns <= start_ns + PERIOD_NS / 20)
		return false;
	*done = ended(p, end_ns - start_ns);
	return true;
}
