/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A watched thread, which a report in JSON has instead of a CPU. Unknown values are null. */
#include "base/json.h"
#include "render/render.h"

static void write_counts(struct json *j, const struct view *v, const struct cpu *c)
{
	bool known = view_thread_known(v), exits = known && c->tid && c->is_vcpu;
	bool waits = known && v->run.waits_known, stops = known && v->run.stops_known;
	const struct {
		const char *key;
		uint64_t value;
		bool known;
	} rows[] = {{"woken", c->woken, known},
		    {"woken_due", c->woken_due, known},
		    {"waits_before", c->waits_before, waits},
		    {"waits_beyond", c->waits_beyond, waits},
		    {"waits_beyond_ns", c->waits_beyond_ns, waits},
		    {"stops", c->stops, stops},
		    {"stopped_ns", c->stopped_ns, stops},
		    {"reported", c->reported, known},
		    {"reported_ns", c->reported_ns, known},
		    {"reported_not_seen_ns", c->unseen_ns, known},
		    {"reported_not_seen_max_ns", c->unseen_max_ns, known},
		    {"reported_not_seen", c->unseen_whole, known},
		    {"guest_wanted_ns", view_guest_wanted(c), exits},
		    {"guest_got_ns", view_guest_got(c), exits},
		    {"asleep_ns", c->asleep_ns, exits},
		    {"exits_without_end", c->unended, exits},
		    {"halts", c->halts, exits},
		    {"halted_ns", c->halted_ns, exits},
		    {"ran_on_steal_ns", c->ran_steal_ns, known && c->ran_steal_known}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].known)
			json_u64(j, rows[i].key, rows[i].value);
		else
			json_null(j, rows[i].key);
	json_array_flat(j, "ran_on");
	for (int cpu = cpus_next(&c->ran_on, 0); cpu >= 0 && known;
	     cpu = cpus_next(&c->ran_on, cpu + 1))
		json_u64(j, NULL, cpu);
	json_end(j);
}

static void write_places(struct json *j, const struct places *p)
{
	json_array(j, "places");
	for (uint32_t i = 0; i < p->n; i++) {
		json_object_flat(j, NULL);
		json_u64(j, "cpu", p->row[i].cpu);
		json_u64(j, "stays", p->row[i].stays);
		json_u64(j, "moves", p->row[i].moves);
		json_u64(j, "ran_ns", p->row[i].ran_ns);
		json_end(j);
	}
	json_end(j);
}

/* Writes by whom it lost time: together its hiccups' time. */
static void write_whose(struct json *j, const struct view *v, const struct cpu *c)
{
	bool known = v->run.whose;
	char key[24];

	json_object_flat(j, "lost_to");
	for (int i = 0; i < WHOSE; i++) {
		snprintf(key, sizeof(key), "%s_ns", whose_name(i));
		if (known && view_whose_known(v, c, i))
			json_u64(j, key, c->whose_ns[i]);
		else
			json_null(j, key);
	}
	if (known)
		json_u64(j, "throttled_real_time_ns", c->let_in_ns);
	else
		json_null(j, "throttled_real_time_ns");
	if (known)
		json_u64(j, "not_known_ns", c->lost_ns + c->outside_ns);
	else
		json_null(j, "not_known_ns");
	json_end(j);
}

/* Writes whose virtual CPU it is, and how the guest's counter is made from the host's. */
static void write_vcpu(struct json *j, const struct cpu *c)
{
	if (!c->machine)
		return;
	json_object_flat(j, "vcpu");
	json_u64(j, "machine_pid", c->machine);
	if (c->vcpu)
		json_u64(j, "number", c->vcpu - 1);
	if (c->counter.ratio) {
		json_i64(j, "counter_offset", (int64_t)c->counter.offset);
		json_u64(j, "counter_ratio", c->counter.ratio);
		json_u64(j, "counter_fraction_bits", c->counter.fraction);
	}
	json_end(j);
}

void render_json_thread(struct json *j, const struct view *v, const struct cpu *c)
{
	json_null(j, "cpu");
	json_object_flat(j, "thread");
	json_u64(j, "pid", c->tid);
	json_string(j, "comm", c->comm);
	write_vcpu(j, c);
	if (c->tid && c->comm[0])
		json_bool(j, "kernel_thread", c->kernel_thread);
	else
		json_null(j, "kernel_thread");
	write_counts(j, v, c);
	write_places(j, view_thread_known(v) ? &c->places : &(struct places){0});
	write_whose(j, v, c);
	json_end(j);
}
