"""pftrace.py TRACE SIZE: decodes a Perfetto trace with Perfetto's own schema, and prints the stack of each sample.

SIZE bytes of TRACE are the trace as it was recorded. The packets behind must have no unknown fields, and be symbols or
names alone. Stacks are resolved as Perfetto's documentation says: interned data by sequence, symbols by path, build-id
and address, names of Java by package. A line is a sample: its functions from the innermost, parted by " < ".
"""
import re
import sys

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace


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


def package(path):
    m = re.match(r"/data/app/(?:~[^/]*/)?([^/-]+)-[^/]*/", path)
    return m and m[1]


def raw(text):
    return text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text


class Interned:
    def __init__(self):
        self.tables = {}

    def add(self, data):
        for field, entries in data.ListFields():
            table = self.tables.setdefault(field.name, {})
            for e in entries:
                table[e.iid] = e

    def text(self, table, iid):
        return self.tables[table][iid].str if iid else b""

    def stack(self, iid):
        for frame in reversed(self.tables["callstacks"][iid].frame_ids):
            f = self.tables["frames"][frame]
            m = self.tables["mappings"][f.mapping_id]
            path = "".join("/" + self.text("mapping_paths", p).decode() for p in m.path_string_ids)
            path = re.sub("^//", "/", path)
            yield path, self.text("build_ids", m.build_id), f.rel_pc, self.text("function_names", f.function_name_id).decode()


def main():
    data = open(sys.argv[1], "rb").read()
    size = int(sys.argv[2])
    behind = Trace.FromString(data[size:])
    if unknown(behind):
        sys.exit("the answers have fields that the schema does not know")
    symbols, names = {}, {}
    for p in behind.packet:
        if not (p.HasField("module_symbols") or p.HasField("deobfuscation_mapping")) or len(p.ListFields()) != 1:
            sys.exit(f"no answer: {p}")
        if p.HasField("module_symbols"):
            m = p.module_symbols
            for a in m.address_symbols:
                symbols[m.path, raw(m.build_id), a.address] = [line.function_name for line in a.lines]
        d = p.deobfuscation_mapping
        for c in d.obfuscated_classes:
            for o in c.obfuscated_methods:
                new = o.deobfuscated_name
                names.setdefault((d.package_name, c.obfuscated_name + "." + o.obfuscated_name), set()).add(new if "." in new else c.deobfuscated_name + "." + new)
    sequences = {}
    for p in Trace.FromString(data[:size]).packet:
        if p.sequence_flags & 1 or p.incremental_state_cleared:
            sequences[p.trusted_packet_sequence_id] = Interned()
        interned = sequences.setdefault(p.trusted_packet_sequence_id, Interned())
        interned.add(p.interned_data)
        stacks = [p.perf_sample.callstack_iid] if p.HasField("perf_sample") else list(p.streaming_profile_packet.callstack_iid)
        for iid in stacks:
            shown = []
            for path, build, address, function in interned.stack(iid):
                here = symbols.get((path, build, address))
                original = names.get((package(path), function))
                shown += here or [" | ".join(sorted(original))] if here or original else [function or "%s+0x%x" % (path.split("/")[-1].split("!")[-1], address)]
            print(" < ".join(shown))


main()
