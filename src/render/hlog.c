/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All values of a workload's series, or the lengths of hiccups, as an HdrHistogram log (format 1.3:
 * AbstractHistogramLogReader of its Java), which jHiccup's and HdrHistogram's tools read. Each line
 * is for a whole run:
 *
 *   untagged        the first series of all CPUs together, or the hiccups, where no workload was
 *                   measured: what those tools read when they are not asked for a tag
 *   latency:cpu3    a series of a CPU; blanks in its name are \x20
 *   cpu3            the hiccups of a CPU; of a workload its outliers
 *
 * Values are ns; as those tools do, Interval_Max is in millions, so ms. A series of operations of
 * few ns has ps, and :ps behind its tag.
 *
 * Our histogram of 7 bits has the very buckets of an HdrHistogram of 2 significant digits from 1
 * on, so its counts go over as they are: V2 encoding (AbstractHistogram.encodeIntoByteBuffer),
 * integers big-endian, each count as ZigZag LEB128 with a run of empty buckets as its negative
 * length; zlib; base64.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/escape.h"
#include "base/units.h"
#include "model/hosts.h"
#include "render/render.h"

#define COOKIE            0x1c849313
#define COOKIE_COMPRESSED 0x1c849314
#define DIGITS            2
#define HEAD              40 /* bytes before the counts */
#define COUNT_MOST        9  /* bytes of a count */
#define HIGHEST_LEAST     (3600 * NSEC_PER_SEC)

_Static_assert(HICCUP_BITS == 7, "2 significant digits are 7 bits");

static void put_be(uint8_t *at, unsigned bytes, uint64_t value)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = value >> 8 * (bytes - 1 - i);
}

/* Writes ZigZag LEB128, whose ninth byte has eight bits. */
static size_t put_count(uint8_t *at, int64_t count)
{
	uint64_t value = (uint64_t)count << 1 ^ (uint64_t)(count >> 63);
	size_t n = 0;

	while (value >= 0x80 && n < COUNT_MOST - 1) {
		at[n++] = value | 0x80;
		value >>= 7;
	}
	at[n++] = value;
	return n;
}

/* Returns the length. buf holds HEAD + COUNT_MOST * nbuckets. */
static size_t encode(const struct hist *h, uint8_t *buf)
{
	uint32_t used = h->count ? hist_index(h, h->max) + 1 : 0, at = 0;
	static const double ratio = 1;
	uint64_t bits;
	size_t n = HEAD;

	for (uint32_t i = hist_next(h, 0); i < h->nbuckets; i = hist_next(h, at)) {
		if (i > at)
			n += put_count(buf + n, -(int64_t)(i - at));
		n += put_count(buf + n, hist_at(h, i));
		at = i + 1;
	}
	memcpy(&bits, &ratio, sizeof(bits));
	put_be(buf, 4, COOKIE);
	put_be(buf + 4, 4, n - HEAD);
	put_be(buf + 8, 4, 0); /* normalizing offset */
	put_be(buf + 12, 4, DIGITS);
	put_be(buf + 16, 8, 1); /* lowest discernible value */
	put_be(buf + 24, 8,
	       h->count && h->max > HIGHEST_LEAST ? hist_highest(h, used - 1) : HIGHEST_LEAST);
	put_be(buf + 32, 8, bits);
	return n;
}

static void write_base64(const uint8_t *data, size_t len, FILE *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < len; i += 3) {
		uint32_t three = data[i] << 16 | (i + 1 < len ? data[i + 1] << 8 : 0) |
				 (i + 2 < len ? data[i + 2] : 0);

		putc(digits[three >> 18], out);
		putc(digits[three >> 12 & 63], out);
		putc(i + 1 < len ? digits[three >> 6 & 63] : '=', out);
		putc(i + 2 < len ? digits[three & 63] : '=', out);
	}
}

static int write_histogram(const struct hist *h, FILE *out)
{
	size_t room = HEAD + COUNT_MOST * (size_t)h->nbuckets;
	uLongf packed = compressBound(room);
	uint8_t *plain = malloc(room), *buf = malloc(8 + packed);
	int err = -ENOMEM;

	if (plain && buf && compress(buf + 8, &packed, plain, encode(h, plain)) == Z_OK) {
		put_be(buf, 4, COOKIE_COMPRESSED);
		put_be(buf + 4, 4, packed);
		write_base64(buf, 8 + packed, out);
		err = 0;
	}
	free(plain);
	free(buf);
	return err;
}

/* Writes a tag, which holds no commas and no blanks. */
static void write_word(const char *word, FILE *out)
{
	for (; *word; word++)
		if (*word == ',' || *word == ' ')
			fprintf(out, "\\x%02x", *word);
		else
			putc(*word, out);
}

/* A line to write: a histogram of a CPU, or of all together. */
struct entry {
	const char *host;   /* NULL: one host */
	const char *series; /* NULL: hiccups */
	bool fine;
	double after_s, length_s; /* since the log's begin */
	const struct hist *hist;
};

static void write_tag(const struct entry *l, const struct view *v, uint32_t index, FILE *out)
{
	char lane[LANE_NAME], safe[4 * LANE_NAME], series[4 * SERIES_NAME + 8];

	fputs("Tag=", out);
	if (l->host)
		write_word(l->host, out);
	fputs(l->host ? ":" : "", out);
	if (l->series)
		write_word(escape_text(l->series, SERIES_NAME, series, sizeof(series)), out);
	fputs(l->series ? ":" : "", out);
	if (view_threads(v))
		write_word(escape_text(view_lane(v, index, lane), SIZE_MAX, safe, sizeof(safe)),
			   out);
	else
		fprintf(out, "cpu%u", v->cpu[index].number);
	fputs(l->fine ? ":ps," : ",", out);
}

static int write_entry(const struct entry *l, FILE *out)
{
	int err;

	fprintf(out, "%.3f,%.3f,%.3f,", l->after_s, l->length_s, l->hist->max / 1e6);
	err = write_histogram(l->hist, out);
	putc('\n', out);
	return err;
}

/* Wall clock of the run's start; 0: not known. */
static uint64_t started(const struct view *v)
{
	uint64_t ns;

	return parse_iso_time(v->run.started, &ns) ? 0 : ns;
}

static void write_head(uint64_t start_ns, const char *name, bool fine, FILE *out)
{
	char text[ISO_TIME], safe[4 * SERIES_NAME + 8];
	bool hiccups = !strcmp(name, SERIES_HICCUPS);

	fprintf(out,
		"#[%s by culprit " CULPRIT_VERSION
		", in %s]\n#[Histogram log format version 1.3]\n",
		hiccups ? "Hiccups" : escape_text(name, SERIES_NAME, safe, sizeof(safe)),
		fine ? "ps" : "ns");
	fprintf(out, "#[StartTime: %.3f (seconds since epoch), %s]\n", start_ns / 1e9,
		format_iso_time(start_ns, text));
	fprintf(out, "#[BaseTime: %.3f (seconds since epoch)]\n", start_ns / 1e9);
	fputs("\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_"
	      "Histogram\"\n",
	      out);
}

/* Writes the head, and the line without a tag: the values of all CPUs and hosts together. */
static int write_together(const struct view *const *views, uint32_t n, const char *name,
			  uint64_t first, FILE *out)
{
	struct entry l = {0};
	uint64_t end_ns = first;
	struct hist all;
	int err = 0;

	if (hist_init(&all, HICCUP_BITS))
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < views[i]->ncpus; k++) {
			bool fine;
			const struct hist *h = cpu_values(&views[i]->cpu[k], name, &fine);
			uint64_t to = started(views[i]) + views[i]->cpu[k].observed_ns;

			l.fine |= h && fine;
			if (h)
				hist_merge(&all, h);
			if (h && to > end_ns)
				end_ns = to;
		}
	write_head(first, name, l.fine, out);
	l.length_s = (end_ns - first) / 1e9;
	l.hist = &all;
	err = write_entry(&l, out);
	hist_free(&all);
	return err;
}

/* Writes the tagged lines of a CPU: each series with values, and its hiccups. wanted: one of them
 * alone; NULL: all. */
static int write_lane(struct entry *l, const struct view *v, uint32_t index, const char *wanted,
		      FILE *out)
{
	const struct cpu *c = &v->cpu[index];
	int err = 0;

	for (uint32_t i = 0; i <= c->nseries && !err; i++) {
		const struct series *s = i < c->nseries ? &c->series[i] : NULL;

		l->series = s ? s->name : NULL;
		l->fine = s && s->fine;
		l->hist = s ? &s->hist : &c->hiccups;
		if ((s && !s->hist.count) ||
		    (wanted && strncmp(wanted, s ? s->name : SERIES_HICCUPS, SERIES_NAME)))
			continue;
		write_tag(l, v, index, out);
		err = write_entry(l, out);
	}
	return err;
}

int render_hlog(const struct view *const *views, uint32_t n, const struct render_options *options,
		FILE *out)
{
	uint64_t first = UINT64_MAX;
	char label[HOST_LABEL];
	int err;

	for (uint32_t i = 0; i < n; i++)
		if (started(views[i]) < first)
			first = started(views[i]);
	err = write_together(views, n, options->values ? options->values : views_values(views, n),
			     first, out);
	for (uint32_t i = 0; i < n && !err; i++) {
		const struct view *v = views[i];
		struct entry l = {.host = n > 1 ? host_label(views, n, i, label, sizeof(label))
						: NULL,
				  .after_s = (started(v) - first) / 1e9};

		for (uint32_t k = 0; k < v->ncpus && !err; k++) {
			l.length_s = v->cpu[k].observed_ns / 1e9;
			err = write_lane(&l, v, k, options->values, out);
		}
	}
	return err ? err : ferror(out) ? -EIO : 0;
}
