"""Writes LineNumberMappings.json, as il2cpp does of its marks, and libil2cpp.so.golden.json."""

import json
import re
import subprocess

MARK = re.compile(r"\t*//<source_info:(.+):(\d+)>")
NAMES = {
    "Player_Update_mBAE6F283CF1BF849003C4A07636457CD26794A4A": "Game.Player.Update(System.Single)",
    "Player_Hit_m3F2A1B4C5D6E7F8091A2B3C4D5E6F708192A3B4C": "Game.Player.Hit(System.Int32)",
    "Player_get_Health_m0123456789ABCDEF0123456789ABCDEF01234567_inline": "Game.Player.get_Health()",
    "Inventory_1_get_Item_m00112233445566778899AABBCCDDEEFF00112233_gshared": "Game.Inventory<System.Int32>.get_Item(System.Int32)",
}

maps, places = {}, {}
for unit in ("Assembly-CSharp.cpp", "Generics.cpp"):
    path = "/build/il2cppOutput/" + unit
    last = None
    for number, line in enumerate(open("src/" + unit), 1):
        if line.startswith("{"):
            last = None
        found = MARK.match(line)
        if found:
            last = (found.group(1), int(found.group(2)))
            maps.setdefault(path, {}).setdefault(last[0], {})[str(number)] = last[1]
        places[path, number] = last
json.dump(maps, open("LineNumberMappings.json", "w"), indent=1)

objdump = subprocess.run(["llvm-objdump-19", "-d", "--no-show-raw-insn", "libil2cpp.so"], capture_output=True, text=True, check=True).stdout
addresses = [m.group(1) for m in re.finditer(r"^\s*([0-9a-f]+):\s", objdump, re.M)]
answers = subprocess.run(["llvm-symbolizer-19", "--inlines", "--functions=linkage", "--no-demangle", "--output-style=JSON", "--obj=libil2cpp.so"],
                         input="\n".join("0x" + a for a in addresses), capture_output=True, text=True, check=True).stdout
cases = []
for address, answer in zip(addresses, answers.splitlines()):
    frames = []
    for f in json.loads(answer)["Symbol"]:
        if not f["FunctionName"]:
            continue
        place = places.get((f["FileName"], f["Line"]))
        frame = {"linkage": NAMES.get(f["FunctionName"], f["FunctionName"]), "file": f["FileName"], "line": f["Line"], "column": f["Column"]}
        if place:
            frame.update(file=place[0], line=place[1], column=0)
        frames.append(frame)
    cases.append({"addr": "0x" + address, "frames": frames})
json.dump({"object": "libil2cpp.so", "arch": "arm64", "oracle": "llvm-symbolizer 19.1.7, and the marks in src/", "cases": cases},
          open("libil2cpp.so.golden.json", "w"), indent=0)
