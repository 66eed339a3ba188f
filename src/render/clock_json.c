/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The same as JSON, schema culprit.clock/1. Unknown values are null. */
#include <errno.h>
#include <math.h>

#include "base/json.h"
#include "render/clock.h"

static void known_int(struct json *j, const char *key, int value)
{
	if (value < 0)
		json_null(j, key);
	else
		json_i64(j, key, value);
}

static void write_rate(struct json *j, const char *clock, const struct clock_rate *r)
{
	json_object_flat(j, NULL);
	json_string(j, "clock", clock);
	json_double(j, "khz", r->known ? r->khz : NAN, 6);
	json_double(j, "error_ppm", r->known ? r->error_ppm : NAN, 6);
	json_double(j, "rms_ns", r->known ? r->rms_ns : NAN, 3);
	json_double(j, "worst_ns", r->known ? r->worst_ns : NAN, 3);
	json_double(j, "spread_ppm", r->known ? r->spread_ppm : NAN, 6);
	json_u64(j, "duration_ns", r->duration_ns);
	json_u64(j, "readings", r->readings);
	json_end(j);
}

static void write_way(struct json *j, const struct clock_way *w, double ns_per_tick)
{
	json_object_flat(j, NULL);
	json_u64(j, "messages", w->count);
	json_double(j, "low_ns", w->count ? (double)w->low * ns_per_tick : NAN, 3);
	json_double(j, "high_ns", w->count ? (double)w->high * ns_per_tick : NAN, 3);
	json_double(j, "round_trip_ns", w->count ? (double)w->round_trip * ns_per_tick : NAN, 3);
	json_end(j);
}

static void write_offsets(struct json *j, const struct clock_view *v)
{
	json_array(j, "offsets");
	for (uint32_t i = 0; i < v->noffsets; i++) {
		const struct clock_offset *o = &v->offset[i];

		json_object(j, NULL);
		json_u64(j, "cpu", o->cpu);
		json_string(j, "failed", o->failed);
		json_double(j, "offset_ns", o->failed ? NAN : o->ns, 3);
		json_double(j, "bound_ns", o->failed ? NAN : o->bound_ns, 3);
		json_bool(j, "moved", o->moved);
		json_array(j, "ways"); /* the reference asks, this CPU asks */
		write_way(j, &o->way[0], v->ns_per_tick);
		write_way(j, &o->way[1], v->ns_per_tick);
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

static void write_costs(struct json *j, const struct clock_view *v)
{
	json_array(j, "costs");
	for (uint32_t i = 0; i < v->ncosts; i++) {
		const struct clock_cost *c = &v->cost[i];

		json_object_flat(j, NULL);
		json_string(j, "name", c->name);
		json_string(j, "kind", c->counter ? "counter" : "clock");
		json_string(j, "absent", c->absent);
		if (!c->absent) {
			json_u64(j, "min_ps", c->min_ps);
			json_u64(j, "median_ps", c->median_ps);
			json_u64(j, "p99_ps", c->p99_ps);
		}
		if (!c->absent && !c->counter) {
			json_u64(j, "resolution_ns", c->resolution_ns);
			if (c->how == HOW_UNKNOWN)
				json_null(j, "system_call");
			else
				json_bool(j, "system_call", c->how == HOW_SYSCALL);
		}
		json_end(j);
	}
	json_end(j);
}

static void write_result(struct json *j, enum phc_way way, const struct phc_result *r,
			 int64_t applied_ns)
{
	json_object(j, NULL);
	json_string(j, "name", phc_way_name(way));
	json_string(j, "error", render_phc_error(r->error));
	if (!r->error) {
		json_u64(j, "samples", r->samples);
		json_i64(j, "offset_ns", r->raw_ns - applied_ns);
		json_i64(j, "least_ns", r->raw_least_ns - applied_ns);
		json_i64(j, "most_ns", r->raw_most_ns - applied_ns);
		json_u64(j, "delay_ns", r->delay_ns);
		json_u64(j, "call_min_ns", r->call_min_ns);
		json_u64(j, "call_p50_ns", r->call_p50_ns);
	}
	json_end(j);
}

static void write_device(struct json *j, const struct clock_view *v, const struct phc *d)
{
	static const char *const scales[] = {"UTC", "TAI", NULL};
	int64_t applied_ns = d->scale == PHC_TAI ? v->tai_s * INT64_C(1000000000) : 0;

	json_object(j, NULL);
	json_string(j, "operand", d->operand);
	json_string(j, "path", d->path);
	json_string(j, "name", d->name[0] ? d->name : NULL);
	known_int(j, "max_adjustment_ppb", d->max_ppb);
	known_int(j, "pins", d->pins);
	known_int(j, "alarms", d->alarms);
	known_int(j, "external_time_stamps", d->external);
	known_int(j, "pps", d->pps);
	known_int(j, "cross_time_stamps", d->cross);
	json_string(j, "time_scale", scales[d->scale]);
	json_i64(j, "applied_ns", applied_ns);
	json_double(j, "rate_ppm", d->rate_known ? d->rate_ppm : NAN, 3);
	json_double(j, "rate_error_ppm", d->rate_known ? d->rate_error_ppm : NAN, 3);
	json_array(j, "ways");
	for (int i = 0; i < PHC_WAYS; i++)
		write_result(j, i, &d->result[i], applied_ns);
	json_end(j);
	json_end(j);
}

static void write_kernel(struct json *j, const struct clock_view *v)
{
	json_object(j, "kernel");
	json_string(j, "clocksource", v->host.clocksource);
	json_string(j, "clocksources", v->clocksources);
	if (v->ntp_known)
		json_bool(j, "synchronised", v->ntp_synchronised);
	else
		json_null(j, "synchronised");
	json_double(j, "frequency_ppm", v->ntp_known ? v->ntp_ppm : NAN, 6);
	json_i64(j, "tai_minus_utc_s", v->tai_s);
	json_string(j, "tai_minus_utc_from", v->tai_from);
	json_end(j);
}

int render_clock_json(const struct clock_view *v, FILE *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_string(&j, "schema", CLOCK_SCHEMA);
	json_string(&j, "version", CULPRIT_VERSION);
	render_host(&j, &v->host);
	write_kernel(&j, v);
	json_string(&j, "counter", v->counter);
	json_string(&j, "unstable", v->unstable);
	json_u64(&j, "reference_cpu", v->reference);
	json_array(&j, "rates");
	write_rate(&j, "CLOCK_MONOTONIC", &v->monotonic);
	write_rate(&j, "CLOCK_MONOTONIC_RAW", &v->raw);
	json_end(&j);
	write_offsets(&j, v);
	write_costs(&j, v);
	json_array(&j, "devices");
	for (uint32_t i = 0; i < v->ndevices; i++)
		write_device(&j, v, &v->device[i]);
	json_end(&j);
	json_end(&j);
	return ferror(out) ? -EIO : 0;
}
