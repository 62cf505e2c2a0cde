"""check.py TRACE: decodes a Perfetto trace with Perfetto's own schema, checks it, and prints what is on its tracks
as lines of JSON: a slice each when it ends, and values of counters.

Checked: no unknown fields; one sequence is cleared before it needs state; what is interned was defined before, and
once; tracks are described before the first event on them, their parents before them; begin and end are balanced;
times on a track do not descend. This is the schema alone: no trace processor is run.
"""
import json
import sys

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent


def fail(what, packet):
    sys.exit(f"{what}\n{packet}")


def unknown(message):
    """Whether a message or one inside has fields that the schema does not know."""
    if len(UnknownFieldSet(message)):
        return True
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for m in value if field.is_repeated else [value]:
            if unknown(m):
                return True
    return False


class Sequence:
    def __init__(self):
        self.cleared = False
        self.clear()

    def clear(self):
        self.interned = {}
        self.default = 0
        self.counters = []

    def define(self, data, packet):
        for field, entries in data.ListFields():
            known = self.interned.setdefault(field.name, {})
            for e in entries:
                if e.iid == 0 or e.iid in known:
                    fail(f"{field.name} {e.iid} is defined twice, or 0", packet)
                known[e.iid] = e

    def get(self, kind, iid, packet):
        found = self.interned.get(kind, {}).get(iid)
        if found is None:
            fail(f"{kind} {iid} is not defined", packet)
        return found


def annotation(seq, a, packet):
    if a.array_values:
        return [annotation(seq, v, packet) for v in a.array_values]
    if a.HasField("string_value_iid"):
        return seq.get("debug_annotation_string_values", a.string_value_iid, packet).str.decode()
    if a.HasField("bool_value"):
        return a.bool_value
    return fail("an annotation without value", packet)


def annotations(seq, event, packet):
    return {
        seq.get("debug_annotation_names", a.name_iid, packet).name: annotation(seq, a, packet)
        for a in event.debug_annotations
    }


def label(tracks, uuid):
    """A track as a person calls it, and its thread."""
    d = tracks[uuid]
    out = {}
    if d.HasField("thread"):
        out["thread"] = d.thread.thread_name
        out["tid"] = d.thread.tid
        out["pid"] = d.thread.pid
    else:
        if d.parent_uuid and tracks[d.parent_uuid].HasField("thread"):
            out = label(tracks, d.parent_uuid)
        out["track"] = d.name
    return out


def main(path):
    trace = Trace()
    with open(path, "rb") as f:
        data = f.read()
    if trace.ParseFromString(data) != len(data):
        sys.exit("the file has more than a trace")
    if unknown(trace):
        sys.exit("there are unknown fields")
    sequences, tracks, last, stacks, tids = {}, {}, {}, {}, set()
    for packet in trace.packet:
        if not packet.trusted_packet_sequence_id:
            fail("a packet without sequence", packet)
        seq = sequences.setdefault(packet.trusted_packet_sequence_id, Sequence())
        if packet.sequence_flags & 1:
            seq.clear()
            seq.cleared = True
        if packet.sequence_flags & 2 and not seq.cleared:
            fail("state is needed and was never begun", packet)
        if packet.HasField("trace_packet_defaults"):
            seq.default = packet.trace_packet_defaults.track_event_defaults.track_uuid
            seq.counters = packet.trace_packet_defaults.track_event_defaults.extra_counter_track_uuids
        seq.define(packet.interned_data, packet)
        if packet.HasField("track_descriptor"):
            d = packet.track_descriptor
            if d.uuid in tracks or d.uuid == 0:
                fail("a track is described twice", packet)
            if d.parent_uuid and d.parent_uuid not in tracks:
                fail("a track's parent is not known", packet)
            if d.HasField("thread"):
                if d.thread.tid in tids or d.thread.tid == 0 or d.thread.pid == 0:
                    fail("a thread's id is taken", packet)
                tids.add(d.thread.tid)
            tracks[d.uuid] = d
        if not packet.HasField("track_event"):
            continue
        e = packet.track_event
        if not packet.sequence_flags & 2:
            fail("an event that does not need state", packet)
        uuid = e.track_uuid or seq.default
        if uuid not in tracks:
            fail(f"track {uuid} is not described", packet)
        if packet.timestamp < last.get(uuid, 0):
            fail("time goes back", packet)
        last[uuid] = packet.timestamp
        cpu = None
        if e.extra_counter_values:
            counters = e.extra_counter_track_uuids or seq.counters
            if len(e.extra_counter_values) != len(counters):
                fail("extra counters without tracks", packet)
            counter = tracks.get(counters[0])
            if counter is None or counter.parent_uuid != uuid or counter.counter.type != 1:
                fail("CPU time is no counter of the thread", packet)
            cpu = e.extra_counter_values[0]
        stack = stacks.setdefault(uuid, [])
        if e.type == TrackEvent.TYPE_COUNTER:
            if not tracks[uuid].HasField("counter"):
                fail("a value on a track that is no counter", packet)
            value = e.double_counter_value if e.HasField("double_counter_value") else e.counter_value
            print(json.dumps({**label(tracks, uuid), "at": packet.timestamp, "value": value}))
            continue
        if tracks[uuid].HasField("counter"):
            fail("a slice on a counter", packet)
        if e.type == TrackEvent.TYPE_SLICE_END:
            if not stack:
                fail("an end without begin", packet)
            s = stack.pop()
            s["args"].update(annotations(seq, e, packet))
            s["end"] = packet.timestamp
            if cpu is not None:
                s["cpu"] = cpu - s["cpu"]
            print(json.dumps(s))
            continue
        name = seq.get("event_names", e.name_iid, packet).name
        s = {**label(tracks, uuid), "name": name, "start": packet.timestamp, "depth": len(stack)}
        s["args"] = annotations(seq, e, packet)
        if e.source_location_iid:
            at = seq.get("source_locations", e.source_location_iid, packet)
            s["location"] = f"{at.file_name}:{at.line_number}"
        if e.type == TrackEvent.TYPE_INSTANT:
            print(json.dumps({**s, "instant": True}))
        elif e.type == TrackEvent.TYPE_SLICE_BEGIN:
            if cpu is not None:
                s["cpu"] = cpu
            stack.append(s)
        else:
            fail("an event of no known type", packet)
    if any(stacks.values()):
        sys.exit("slices stay open")


main(sys.argv[1])
