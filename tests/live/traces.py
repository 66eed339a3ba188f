# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads perfetto's traces with the public schema, and holds them against what jsonl says of the
same hiccups."""
import json
import re

import lib
from lib import is_, ok

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import (BuiltinClock, Trace, TracePacket,
                                                               TrackEvent)


class Slice:
    """name, category, args, begin, end, children, track, flows_in, flows_out"""


def read(name):
    """Decodes a trace as its schema says: (tracks by uuid, slices of each track in order, counters,
    arrows' ends, clocks, broken rules)."""
    trace = Trace()
    with open(name, "rb") as f:
        trace.ParseFromString(f.read())
    names = {"event_names": {}, "event_categories": {}, "debug_annotation_names": {}}
    tracks, top, stack, counters, wrong, clocks, steps = {}, {}, {}, {}, [], None, {}

    def must(holds, *what):
        if not holds:
            wrong.append(what)

    for number, p in enumerate(trace.packet):
        must(not any(map(len, map(UnknownFieldSet, (p, p.track_event, p.track_descriptor)))),
             number, "an unknown field")
        if number == 0:
            must(p.sequence_flags == TracePacket.SEQ_INCREMENTAL_STATE_CLEARED,
                 "the first packet clears the state")
            must(p.trace_packet_defaults.timestamp_clock_id == BuiltinClock.BUILTIN_CLOCK_MONOTONIC,
                 "the clock")
            clocks = {c.clock_id: c.timestamp for c in p.clock_snapshot.clocks}
        else:
            must(p.sequence_flags == TracePacket.SEQ_NEEDS_INCREMENTAL_STATE, number,
                 "needs the state")
        must(p.trusted_packet_sequence_id == trace.packet[0].trusted_packet_sequence_id, number,
             "one sequence")
        for kind, known in names.items():
            for entry in getattr(p.interned_data, kind):
                must(entry.iid not in known, number, kind, "said twice", entry)
                known[entry.iid] = entry.name
        if p.HasField("track_descriptor"):
            d = p.track_descriptor
            must(d.uuid not in tracks, number, "the track is there already")
            must(not d.parent_uuid or d.parent_uuid in tracks, number, "its parent comes first")
            tracks[d.uuid] = d
        if not p.HasField("track_event"):
            continue
        e, s = p.track_event, Slice()
        must(e.track_uuid in tracks, number, "its track comes first")
        if e.type == TrackEvent.TYPE_COUNTER:
            counters.setdefault(tracks[e.track_uuid].name,
                                []).append((p.timestamp, e.counter_value))
            continue
        must(p.timestamp >= steps.get(e.track_uuid, 0), number, "time runs backwards on a track")
        steps[e.track_uuid] = p.timestamp
        open_here = stack.setdefault(e.track_uuid, [])
        if e.type == TrackEvent.TYPE_SLICE_END:
            open_here.pop().end = p.timestamp
            continue
        s.name = names["event_names"][e.name_iid] if e.name_iid else e.name
        s.category = names["event_categories"][e.category_iids[0]] if e.category_iids else None
        s.args = {names["debug_annotation_names"][a.name_iid]:
                  a.string_value if a.HasField("string_value") else a.uint_value
                  for a in e.debug_annotations}
        s.begin, s.end, s.children = p.timestamp, p.timestamp, []
        s.track = tracks[e.track_uuid].name
        s.flows_out, s.flows_in = list(e.flow_ids), list(e.terminating_flow_ids)
        (open_here[-1].children if open_here else top.setdefault(s.track, [])).append(s)
        if e.type == TrackEvent.TYPE_SLICE_BEGIN:
            open_here.append(s)
        else:
            must(e.type == TrackEvent.TYPE_INSTANT, number, "a type")
    must(not any(stack.values()), "all slices end")
    return tracks, top, counters, clocks, wrong


def below(s):
    for child in s.children:
        yield child
        yield from below(child)


def net(s):
    return s.end - s.begin - sum(c.end - c.begin for c in s.children)


def who(piece):
    """render_who's words."""
    name = piece["name"]
    if piece["kind"] == "irq":
        name += f" (irq {piece['id']})" if name else f"irq {piece['id']}"
    elif piece["kind"] == "thread":
        name = lib.thread_name(name, piece["kernel_thread"])
        name += f" [{piece['id']}]" if piece["id"] else ""
    return name + (f" > {piece['function']}" if piece["function"] is not None else "")


def place(row):
    """The name of the track on which a line's hiccup stands, its begin and its end."""
    if row["tid"] is None:
        track = f"CPU {row['cpu']}" + (" (isolated)" if row["isolated"] else "")
    else:  # view_thread's words, of a user's thread
        comm = row["comm"] or "thread"
        track = ("user thread " if comm[0] == "[" else "") + f"{comm} [{row['tid']}]"
    return track, row["start_ns"], row["start_ns"] + row["duration_ns"]


def asked(piece):
    o = piece.get("origin")
    if not o:
        return None
    came = {"(interrupt)": "an interrupt", "(softirq)": "a softirq"}
    return (came[o["comm"]] if o["comm"] in came and not o["pid"]
            else f"{o['comm']} [{o['pid']}]") + (f" {o['function']}" if o["function"] else "")


def without_owner(text):
    """Who asked, as the note "asked by" has it, without the unit or container behind the name."""
    return text and text.partition(" · ")[0]


def without_calls(text):
    """The same without the calls of the program's, which a line of jsonl has not."""
    return text and re.sub(r"( \[\d+\]) .* > (\S+)$", r"\1 \2", text)


def agree(name, trace, lines, sums=True):
    """The trace against the lines of jsonl. sums: the spans are true ones, so that their net times
    make the pieces."""
    tracks, top, counters, clocks, wrong = read(trace)
    ok(not wrong, f"{name}: it keeps the rules of the schema", *wrong[:5])
    is_(clocks and [clocks.get(BuiltinClock.BUILTIN_CLOCK_MONOTONIC)],
        [lines[0]["start_ns"] - lines[0]["at_ns"]],
        f"{name}: the clock's snapshot is the run's start")
    hiccups = {(s.track, s.begin, s.end): s for t, row in top.items() if not t.endswith("asks")
               for s in row}
    is_({k: (s.args["attributed_ns"], s.args["edge_ns"], s.args.get("not_recorded_ns", 0),
             s.args["outside_ns"]) for k, s in hiccups.items()},
        {place(r): tuple(r[k + "_ns"] for k in ("attributed", "edge", "not_recorded", "outside"))
         for r in lines},
        f"{name}: a slice a hiccup, on the track of its CPU or thread")
    is_((len(hiccups), sum(len(row) for t, row in top.items() if not t.endswith("asks"))),
        (len(lines), len(lines)),
        f"{name}: and no other slice, none in another hiccup")
    bad, arrows, wanted = [], {}, 0
    for s in (s for h in hiccups.values() for s in below(h)):
        for f in s.flows_in:
            arrows[f] = s
    for r in lines:
        h, mine = hiccups[place(r)], {}
        for s in below(h):
            if not h.begin <= s.begin < s.end <= h.end:
                bad.append((s.name, s.begin, s.end, h.begin, h.end))
            mine[s.category, s.name] = mine.get((s.category, s.name), 0) + net(s)
        want = {}
        for p in r["pieces"]:
            want[p["kind"], who(p)] = want.get((p["kind"], who(p)), 0) + p["net_ns"]
            wanted += asked(p) is not None and not h.args.get("spans_left_out")
        if sums and not h.args.get("spans_left_out") and mine != want:
            bad.append((mine, want))
        # A piece knows who asked for it the last time.
        told = {(s.name, without_calls(without_owner(s.args.get("asked by")))) for s in below(h)}
        if not h.args.get("spans_left_out") and {(who(p), asked(p)) for p in r["pieces"]
                                                 if asked(p)} - told:
            bad.append((told, r["pieces"]))
    ok(not bad, f"{name}: in each what ran, as deep as it was, and together the pieces of jsonl",
       *bad[:3])
    sent = {f: s for t, row in top.items() if t.endswith("asks") for s in row for f in s.flows_out}
    is_(set(sent), set(arrows), f"{name}: each arrow has two ends")
    ok(all(sent[f].name == without_owner(s.args["asked by"]) for f, s in arrows.items())
       and len(arrows) >= wanted,
       f"{name}: and begins at who asked",
       f"{len(arrows)} arrows, {wanted} pieces that somebody asked for")
    return tracks, top, counters, len(arrows)


def jsonl(text):
    return [json.loads(line) for line in text.splitlines()]
