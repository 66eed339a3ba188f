/* The lengths of hiccups as an HdrHistogram log (format 1.3: AbstractHistogramLogReader of its
 * Java), which jHiccup's and HdrHistogram's tools read: a line a CPU, tagged with it, for the whole
 * run. Values are ns; as those tools do, Interval_Max is in millions, so ms.
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

static void write_tag(const char *host, const struct view *v, uint32_t index, FILE *out)
{
	char lane[LANE_NAME], safe[4 * LANE_NAME];

	fputs("Tag=", out);
	if (host)
		write_word(host, out);
	fputs(host ? ":" : "", out);
	if (v->run.watch)
		write_word(escape_text(view_lane(v, index, lane), SIZE_MAX, safe, sizeof(safe)),
			   out);
	else
		fprintf(out, "cpu%u", v->cpu[index].number);
	putc(',', out);
}

/* Wall clock of the run's start; 0: not known. */
static uint64_t started(const struct view *v)
{
	uint64_t ns;

	return parse_iso_time(v->run.started, &ns) ? 0 : ns;
}

static void write_head(uint64_t start_ns, FILE *out)
{
	char text[ISO_TIME];

	fputs("#[Hiccups by culprit " CULPRIT_VERSION
	      ", in ns]\n#[Histogram log format version 1.3]\n",
	      out);
	fprintf(out, "#[StartTime: %.3f (seconds since epoch), %s]\n", start_ns / 1e9,
		format_iso_time(start_ns, text));
	fprintf(out, "#[BaseTime: %.3f (seconds since epoch)]\n", start_ns / 1e9);
	fputs("\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_"
	      "Histogram\"\n",
	      out);
}

int render_hlog(const struct view *const *views, uint32_t n, const struct render_options *options,
		FILE *out)
{
	uint64_t first = UINT64_MAX;
	char label[HOST_LABEL];
	int err = 0;

	(void)options;
	for (uint32_t i = 0; i < n; i++)
		if (started(views[i]) < first)
			first = started(views[i]);
	write_head(first, out);
	for (uint32_t i = 0; i < n && !err; i++) {
		const struct view *v = views[i];

		for (uint32_t k = 0; k < v->ncpus && !err; k++) {
			const struct hist *h = &v->cpu[k].hiccups;

			write_tag(n > 1 ? host_label(views, n, i, label, sizeof(label)) : NULL, v,
				  k, out);
			fprintf(out, "%.3f,%.3f,%.3f,", (started(v) - first) / 1e9,
				v->cpu[k].observed_ns / 1e9, h->max / 1e6);
			err = write_histogram(h, out);
			putc('\n', out);
		}
	}
	return err ? err : ferror(out) ? -EIO : 0;
}
