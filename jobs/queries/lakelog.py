# The log of a symbol lake: which files count, and which load of each artifact.
import base64, hashlib, hmac, json, zlib


def aes(key):
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(key)


def open_key(keys, tail):
    """The key of a sealed file. tail is its end, with the key material before the footer."""
    start = tail.rindex(b'{"keyMaterialType"')
    m = json.loads(tail[start : tail.index(b"}", start) + 1])
    b = base64.b64decode(m["wrappedDEK"])
    return aes(base64.b64decode(keys[m["masterKeyID"]])).decrypt(b[:12], b[12:], m["masterKeyID"].encode())


def read_log(list_keys, read, rows, keys):
    """The files that count, by path, and the live loads, by artifact.

    list_keys(folder) lists the keys below a folder of the lake, read(key) gives bytes, rows(key) the rows of a Parquet file as
    dicts. keys are the master keys of a sealed lake. An entry or checkpoint that is missing or changed is a ValueError."""

    def text(kind, key):
        line = json.loads(read(key))
        number = int(key[-25:-5])
        if "sealed" not in line:
            return line
        seal = hmac.digest(base64.b64decode(keys[line["key"]]), b"symlake lake log", "sha256")
        nonce, sealed = base64.b64decode(line["nonce"]), base64.b64decode(line["sealed"])
        plain = zlib.decompress(aes(seal).decrypt(nonce, sealed, f"{kind} {number}".encode()), -15)
        return json.loads(plain) | {"mac": line["mac"]}

    checkpoint = text("checkpoint", min(k for k in list_keys("_checkpoint") if k.endswith(".json")))
    number, before, lake = checkpoint["number"], checkpoint["entry"], checkpoint["lake"]
    files, live = {}, {}
    for part in checkpoint["parts"]:
        if hashlib.sha256(read(part["path"])).hexdigest() != part["sha256"]:
            raise ValueError(f"{part['path']} was changed")
        for r in rows(part["path"]):
            if r["says"] == "live":
                live[r["artifact"]] = {k: r[k] for k in ("artifact", "load", "revision", "file", "facts", "names")}
            elif r["says"] == "gone":
                live.pop(r["artifact"], None)
            elif r["says"] == "file":
                files[r["path"]] = {"table": r["of"], "path": r["path"], "bound": bool(r["bound"])}
            else:
                files.pop(r["path"], None)
    for key in sorted(k for k in list_keys("_log") if k.endswith(".json") and int(k[-25:-5]) > number):
        e = text("entry", key)
        if (e["number"], e["before"], e["lake"]) != (number + 1, before, lake):
            raise ValueError(f"{key} does not follow entry {number}")
        number, before = e["number"], e["mac"]
        files |= {f["path"]: {"table": f["table"], "path": f["path"], "bound": f.get("bound", False)} for f in e.get("files", [])}
        for path in e.get("retired", []):
            files.pop(path, None)
        live |= {n["artifact"]: {k: n[k] for k in ("artifact", "load", "revision", "file", "facts", "names")} for n in e.get("live", [])}
        for artifact in e.get("gone", []):
            live.pop(artifact, None)
    return files, live
