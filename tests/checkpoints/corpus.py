"""Files made to mislead, break or exhaust what reads them: 250 and more, by kind, each made when it is asked for.

``CASES`` : name → what writes the file into a folder and returns its path. Pickles are written byte by byte, without
PyTorch; ``CANARY`` in a folder is what a file that is executed would leave behind.
"""

import io
import json
import os
import pickle
import struct
import zipfile
from functools import partial

import numpy as np

from tests.checkpoints.crafted import entry, packed, safetensors_bytes

CANARY = "executed"
W = np.arange(144, dtype=np.float32).reshape(12, 12)
ONE = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
CASES = {}
SLOW = {"a many tensors", "a brackets", "c long index", "b sparse", "a long header"}


def case(name, file, data):
    """Remember a file of bytes; of bytes to be made where that takes time; or what writes into a folder itself."""

    def write(folder):
        path = folder / file
        path.write_bytes(data() if callable(data) else data)
        return path

    assert name not in CASES
    CASES[name] = write


tensors = safetensors_bytes


# --- a: safetensors -------------------------------------------------------------------------------------------------
good = packed({"fc.weight": W, "fc.bias": W[0]})
for n in (0, 1, 7, 8, 9, 10, 50, len(good) - 1):
    case(f"a cut {n}", "a.safetensors", good[:n])
for n in (0, 1, 2**31, 2**32, 2**63, 2**64 - 1, 100_000_001, len(good)):
    case(f"a length {n}", "a.safetensors", struct.pack("<Q", n) + good[8:])
HEADERS = {
    "no json": b"hello world", "bad utf-8": b'{"\xff": 1}', "list": b"[1, 2, 3]", "number": b"17", "null": b"null",
    "nan": b'{"a": NaN}', "infinity": b'{"a": 1e999999}', "digits": b'{"a": ' + b"9" * 10**5 + b"}",
    "twice": b'{"a": 1, "a": 2}', "comment": b'{"a": 1} // so', "bom": b"\xef\xbb\xbf{}", "empty": b"{}",
    "nested": b'{"__metadata__": ' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"}", "surrogate": b'{"\\ud800": 1}',
    "metadata list": b'{"__metadata__": [1]}', "metadata number": b'{"__metadata__": {"a": 1}}',
}  # fmt: skip
for name, text in HEADERS.items():
    case(f"a header {name}", "a.safetensors", tensors(text))
case("a brackets", "a.safetensors", lambda: tensors(b"[" * 5_000_000))
case("a long header", "a.safetensors", lambda: tensors(b'{"a": "' + b"x" * 99_000_000 + b'"}'))
ENTRIES = {
    "negative": {"shape": [-2]}, "fraction": {"shape": [2.0]}, "truth": {"shape": [True, 2]}, "text": {"shape": "2"},
    "huge": {"shape": [2**62, 4]}, "zero by huge": {"shape": [0, 2**70]}, "axes": {"shape": [1] * 40 + [2]},
    "many axes": {"shape": [1] * 10**5}, "none": {"shape": None}, "number": {"shape": 2}, "list": {"shape": [[2]]},
    "type": {"dtype": "F33"}, "type object": {"dtype": {"a": 1}}, "type escape": {"dtype": "\x1b[31mF32"},
    "type long": {"dtype": "F" * 10**6}, "type null": {"dtype": None}, "reversed": {"data_offsets": [8, 0]},
    "below": {"data_offsets": [-8, 0]}, "beyond": {"data_offsets": [0, 2**63]}, "three": {"data_offsets": [0, 4, 8]},
    "floats": {"data_offsets": [0.0, 8.0]}, "no offsets": {"data_offsets": None}, "wrong size": {"shape": [3]},
}  # fmt: skip
for name, change in ENTRIES.items():
    case(f"a entry {name}", "a.safetensors", partial(tensors, {"w": {**ONE, **change}}, bytes(8)))
case("a entry missing", "a.safetensors", tensors({"w": {}}, bytes(8)))
case("a overlap", "a.safetensors", tensors({"v": ONE, "w": ONE}, bytes(8)))
case("a hole", "a.safetensors", tensors({"v": ONE, "w": entry("F32", [2], 12, 20)}, bytes(20)))
case("a trailing", "a.safetensors", tensors({"w": ONE}, bytes(9)))
case("a part of a byte", "a.safetensors", tensors({"w": entry("F4", [3], 0, 1)}, b"\0"))
case("a empty tensor", "a.safetensors", tensors({"w": entry("F32", [0, 5], 0, 0)}))
case("a scalar", "a.safetensors", tensors({"w": entry("F32", [], 0, 4)}, bytes(4)))
case("a six axes", "a.safetensors", tensors({"w": entry("F32", [1] * 5 + [2], 0, 8)}, bytes(8)))
NAMES = ("\x1b[2J", "\x07", "\x9b31m", "\u202eabc", "a\u200bb", "", "a\nb", "x" * 10**6, "\x1b" * 10**6)
for i, name in enumerate(NAMES):
    case(f"a name {i}", "a.safetensors", partial(tensors, {name: ONE}, bytes(8)))


def many(n, side):
    step = 4 * side * side
    return tensors({f"w{i}": entry("F32", [side, side], i * step, (i + 1) * step) for i in range(n)}, bytes(n * step))


case("a thousand tensors", "a.safetensors", partial(many, 1000, 2))
case("a many tensors", "a.safetensors", partial(many, 150_000, 1))
for code, n in {"F8_E4M3": 16, "F8_E5M2": 16, "F8_E8M0": 16, "F4": 8, "C64": 128, "BOOL": 16, "I8": 16}.items():
    case(f"a type {code}", "a.safetensors", tensors({"w": entry(code, [4, 4], 0, n)}, bytes(n)))


# --- b: file systems ------------------------------------------------------------------------------------------------
def beside(name, make):
    CASES[name] = make


def linked(target, folder):
    (folder / "a.safetensors").symlink_to(target)
    return folder / "a.safetensors"


def fifo(inside, folder):
    os.mkfifo(folder / "a.safetensors")
    return folder if inside else folder / "a.safetensors"


def looping(folder):
    (folder / "loop").symlink_to(folder)
    return folder


def odd_name(raw, folder):
    path = os.fsencode(folder) + b"/" + raw
    with open(path, "wb") as file:
        file.write(b"nonsense")
    return folder if raw.endswith(b"!") else type(folder)(os.fsdecode(path))


def sparse(folder):
    header = {"descr": "<f4", "fortran_order": False, "shape": (100_000, 100_000)}
    with (folder / "a.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + 4 * 10**10)
    return folder / "a.npy"


for target in ("/dev/zero", "/dev/tty", "/dev/null", "/etc", "absent", "a.safetensors", "/proc/self/mem"):
    beside(f"b link {target}", partial(linked, target))
beside("b fifo", partial(fifo, False))
beside("b fifo in a folder", partial(fifo, True))
beside("b empty folder", lambda folder: folder)
beside("b looping folder", looping)
beside("b folder as file", lambda folder: (folder / "a.safetensors").mkdir() or folder / "a.safetensors")
beside("b absent", lambda folder: folder / "absent.safetensors")
beside("b absent without suffix", lambda folder: folder / "absent")
beside("b long name", lambda folder: folder / ("x" * 5000 + ".npz"))
beside("b sparse", sparse)
ODD = (b"\x1b[31m.npz", b"\x07.safetensors", b"a\nb.npy", b"\xff\xfe.npz", b"\x9b.npy", b"\xe2\x80\xae.npz")
for i, raw in enumerate(ODD):
    beside(f"b file name {i}", partial(odd_name, raw))


# --- c: indices -----------------------------------------------------------------------------------------------------
def index(weight_map, folder, text=None, name="m.safetensors.index.json"):
    (folder / "m-1.safetensors").write_bytes(packed({"v": W}))
    (folder / "m-2.safetensors").write_bytes(packed({"w": W}))
    path = folder / name
    path.write_bytes(text if text is not None else json.dumps({"weight_map": weight_map}).encode())
    return path


MAPS = {
    "right": {"v": "m-1.safetensors", "w": "m-2.safetensors"}, "swapped": {"w": "m-1.safetensors"}, "none": {},
    "up": {"v": "../m-1.safetensors"}, "passwd": {"v": "../../../../etc/passwd"}, "absolute": {"v": "/etc/passwd"},
    "backslash": {"v": "..\\m-1.safetensors"}, "nul": {"v": "m-1\0.safetensors"},
    "self": {"v": "m.safetensors.index.json"},
    "absent": {"v": "m-3.safetensors"}, "short": {"v": "m-1.safetensors", "x": "m-1.safetensors"}, "number": {"v": 1},
    "list": [1], "text": "m", "null": {"v": None}, "escape": {"v": "\x1b[31m.safetensors"}, "torch": {"v": "m.bin"},
    "empty name": {"v": ""}, "dot": {"v": "."}, "long": {"v": "x" * 10**5 + ".safetensors"}, "folder": {"v": "m/"},
}  # fmt: skip
for name, found in MAPS.items():
    beside(f"c {name}", partial(index, found))
TEXTS = {"not json": b"{", "deep": b"[" * 10**5, "twice": b'{"weight_map": {"a": "b", "a": "c"}}', "empty": b""}
for name, text in TEXTS.items():
    beside(f"c {name} text", partial(index, {}, text=text))
beside("c torch self", partial(index, {"v": "m.bin"}, name="m.bin.index.json"))
beside("c long index", lambda folder: index({"x" * 17_000_000: "m-1.safetensors"}, folder))


# --- d: NumPy -------------------------------------------------------------------------------------------------------
def npy(array, **options):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array), **options)
    return buffer.getvalue()


def claiming(text, values=bytes(8), version=b"\x01\x00"):
    text = text.ljust(117) + "\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text.encode() + values


def zipped(members, **options):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", **options) as file:
        for name, data in members:
            file.writestr(name, data)
    return buffer.getvalue()


def bomb(name):
    """A megabyte of zeros, packed, that says of itself to be a gigabyte."""
    data = zipped([(name, bytes(2**20))], compression=zipfile.ZIP_DEFLATED)
    said = data.index(b"PK\x01\x02") + 24
    return data[:said] + struct.pack("<I", 2**30) + data[said + 4 :]


class Payload:
    """What unpickling would run."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


SAY = "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }"
NPY = {
    "huge": SAY % "(4000000000,)", "negative": SAY % "(-1,)", "overflow": SAY % "(9223372036854775807, 9)",
    "axes": SAY % f"({'1,' * 31})", "code": "__import__('os').system('touch executed')", "call": SAY % "(exit(),)",
    "fraction": SAY % "(1.5,)", "object": SAY.replace("<f8", "|O") % "(1,)", "void": SAY.replace("<f8", "|V8") % "(1,)",
    "unicode": SAY.replace("<f8", "<U2") % "(1,)", "record": SAY.replace("'<f8'", "[('a', '<f8')]") % "(1,)",
    "nested": "(" * 100, "no type": "{'shape': (1,)}", "date": SAY.replace("<f8", "<M8[s]") % "(1,)", "empty": "",
}  # fmt: skip
for name, text in NPY.items():
    case(f"d npy {name}", "a.npy", claiming(text))
case("d npy version", "a.npy", claiming(SAY % "(1,)", version=b"\x09\x00"))
case("d npy cut", "a.npy", npy(W)[:-1])
case("d npy trailing", "a.npy", npy(W) + b"\0")
case("d npy noise", "a.npy", bytes(range(256)))
case("d npy objects", "a.npy", lambda: npy(np.array([{}], object), allow_pickle=True))
case("d npy pickle", "a.npy", pickle.dumps(W))
case("d npz good", "a.npz", zipped([("w.npy", npy(W))]))
case("d npz bomb", "a.npz", lambda: bomb("w.npy"))
case("d npz zip in zip", "a.npz", zipped([("w.npy", zipped([("w.npy", npy(W))]))]))
case("d npz traversal", "a.npz", zipped([("../../executed.npy", npy(W)), ("/executed.npy", npy(W))]))
case("d npz lzma", "a.npz", zipped([("w.npy", npy(W))], compression=zipfile.ZIP_LZMA))
case("d npz bzip2", "a.npz", zipped([("w.npy", npy(W))], compression=zipfile.ZIP_BZIP2))
hostile = np.array([Payload(os.system, "touch executed")], object)
case("d npz objects", "a.npz", lambda: zipped([("w.npy", npy(hostile, allow_pickle=True))]))
case("d npz checksum", "a.npz", zipped([("w.npy", npy(W))]).replace(W[5].tobytes(), bytes(48)))
head = b"PK\x01\x02\x14\x03\x14\x00"
case("d npz encrypted", "a.npz", zipped([("w.npy", npy(W))]).replace(head + b"\0", head + b"\1"))
case("d npz escape", "a.npz", zipped([("\x1b[31m.npy", npy(W))]))
case("d npz other", "a.npz", zipped([("readme.txt", b"hello")]))
case("d npz no members", "a.npz", zipped([]))
case("d npz cut", "a.npz", zipped([("w.npy", npy(W))])[:-30])
case("d npz text", "a.npz", zipped([("w.npy", npy(np.array(["a", "b"])))]))


# --- e: PyTorch -----------------------------------------------------------------------------------------------------
def torch_zip(data, *, storage=bytes(4 * 144), root="a", extra=()):
    members = {"data.pkl": data, "version": b"3\n", "byteorder": b"little", "data/0": storage}
    return zipped([*((f"{root}/{name}", content) for name, content in members.items()), *extra])


def number(n):
    return b"\x8a" + bytes([k := (n.bit_length() + 8) // 8]) + n.to_bytes(k, "little", signed=True)


def text(word):
    return b"X" + struct.pack("<I", len(word)) + word.encode()


def tensor(
    shape=(12, 12), stride=(12, 1), offset=0, numel=144, kind="FloatStorage", rebuild="torch._utils\n_rebuild_tensor_v2"
):
    """Opcodes of one tensor of a storage."""
    stored = b"(" + text("storage") + f"ctorch\n{kind}\n".encode() + text("0") + text("cpu") + number(numel) + b"tQ"
    axes = b"".join(b"(" + b"".join(map(number, each)) + b"t" for each in (shape, stride))
    return f"c{rebuild}\n".encode() + b"(" + stored + number(offset) + axes + b"\x89ccollections\nOrderedDict\n)RtR"


def of_names(*items):
    return b"\x80\x02}(" + b"".join(text(name) + value for name, value in items) + b"u."


TENSORS = {
    "good": {}, "one number": {"stride": (0, 0), "shape": (10**5, 10**5)}, "overlap": {"stride": (1, 1)},
    "huge": {"shape": (2**40, 2**20)}, "negative offset": {"offset": -4}, "negative stride": {"stride": (-12, 1)},
    "negative shape": {"shape": (-12, 12)}, "far offset": {"offset": 2**40}, "lying storage": {"numel": 2**40},
    "short": {"stride": (12,)}, "axes": {"shape": (1,) * 50, "stride": (1,) * 50}, "code": {"kind": "load"},
    "type": {"kind": "ComplexFloatStorage"}, "hub": {"rebuild": "torch.hub\nload"}, "os": {"rebuild": "os\nsystem"},
    "bits": {"kind": "UntypedStorage"}, "quantised": {"rebuild": "torch._utils\n_rebuild_qtensor"},
    "meta": {"rebuild": "torch._utils\n_rebuild_meta_tensor_no_storage"},
}  # fmt: skip
for name, options in TENSORS.items():
    case(f"e tensor {name}", "a.pt", torch_zip(of_names(("w", tensor(**options)))))
ZIPS = {
    "no storage": {"storage": b""}, "long storage": {"storage": bytes(2**16)}, "root": {"root": "../.."},
    "script": {"extra": [("a/code/__torch__.py", b"import os")]},
    "constants": {"extra": [("a/constants.pkl", b"\x80\x02).")]},
}  # fmt: skip
for name, change in ZIPS.items():
    case(f"e zip {name}", "a.pt", torch_zip(of_names(("w", tensor())), **change))
twice = (b"q%c0}(" % i + text("a") + b"h%c" % i + text("b") + b"h%cu" % i for i in range(30))
shared = b"\x80\x02}" + b"".join(twice) + b"."
case("e laughs", "a.pt", torch_zip(shared))
case("e laughs of tensors", "a.pt", torch_zip(b"\x80\x02}(" + text("w") + tensor() + b"u" + shared[3:]))
itself = b"\x80\x02}q\x00" + text("a") + b"h\x00s."
case("e itself", "a.pt", torch_zip(itself))
case("e deep", "a.pt", torch_zip(b"\x80\x02" + b"}" * 10**5 + text("a") + b"s" * 3 + b"."))
case("e names", "a.pt", torch_zip(of_names(("\x1b[31m", tensor()), ("b", tensor()))))
case("e number as name", "a.pt", torch_zip(b"\x80\x02}(" + number(3) + tensor() + b"u."))
case("e a list", "a.pt", torch_zip(b"\x80\x02](" + tensor() + b"e."))
case("e a number", "a.pt", torch_zip(b"\x80\x02K\x03."))
case("e training state", "a.pt", torch_zip(b"\x80\x02}(" + text("step") + number(3) + b"u."))
payloads = {"system": Payload(os.system, f"touch {CANARY}"), "open": Payload(open, CANARY, "w")}
payloads |= {call.__name__: Payload(call, f"open({CANARY!r}, 'w')") for call in (eval, exec)}
for name, payload in payloads.items():
    for protocol in (0, 2, 4):
        raw = pickle.dumps({"w": payload}, protocol)
        case(f"e {name} zip {protocol}", "a.pt", torch_zip(raw))
        case(f"e {name} legacy {protocol}", "a.pth", raw)
for suffix in ("pt", "bin", "th", "ckpt", "pth.tar"):
    case(f"e noise {suffix}", f"a.{suffix}", bytes(range(256)) * 4)
case("e text", "a.bin", b"hello world\n" * 20)
case("e elf", "a.bin", b"\x7fELF" + bytes(500))
case("e tar", "a.tar", b"data.pkl" + bytes(504 + 1024))
case("e cut", "a.pt", torch_zip(of_names(("w", tensor())))[:-100])
case("e bomb", "a.pt", lambda: bomb("a/data.pkl"))
case("e memory", "a.pt", torch_zip(b"\x80\x02X\xff\xff\xff\x7f"))

# --- f: other formats -----------------------------------------------------------------------------------------------
for suffix in ("h5", "keras", "onnx", "gguf", "pkl", "joblib", "msgpack", "pb", "tflite", "zip", "json", "exe"):
    case(f"f {suffix}", f"a.{suffix}", pickle.dumps(payloads["open"]))
for n_tensors, n_keys in ((2**63, 0), (0, 2**63), (2**40, 2**40), (1, 1), (0, 0)):
    case(f"f gguf {n_tensors} {n_keys}", "a.gguf", b"GGUF" + struct.pack("<IQQ", 3, n_tensors, n_keys) + bytes(64))
lists = struct.pack("<IQQQ", 3, 0, 1, 1) + b"a" + struct.pack("<IIQ", 9, 0, 2**60)
case("f gguf list", "a.gguf", b"GGUF" + lists + bytes(64))
case("f onnx nested", "a.onnx", b"\x3a\x02" * 10**5)

# --- n: numbers -----------------------------------------------------------------------------------------------------
for name in ("nan", "inf", "1e200", "1e-200", "1e308", "5e-324", "0"):
    for whole in (False, True):
        array = np.where(whole | (np.arange(192).reshape(12, 16) == 7), float(name), 1.0)
        case(f"n {name} {'everywhere' if whole else 'once'}", "a.npz", zipped([("w.npy", npy(array))]))
case("n half", "a.npz", zipped([("w.npy", npy(np.full((12, 16), 65504, "f2")))]))
case("n single", "a.npz", zipped([("w.npy", npy(np.full((12, 16), 3e38, "f4")))]))
case("n long double", "a.npz", zipped([("w.npy", npy(np.ones((12, 16), np.longdouble)))]))


# --- g: what stands beside weights ----------------------------------------------------------------------------------
def scaled(scale):
    return {"w": np.ones((12, 12), "i1"), "w_scale": scale}


def gptq(zeros, scales, order=None):
    found = {"qweight": np.ones((8, 64), "i4"), "qzeros": np.ones(zeros, "i4"), "scales": np.ones(scales)}
    return found if order is None else {**found, "g_idx": np.full(64, order, "i4")}


def compressed(shape):
    return {"w_packed": np.ones((4, 2), "i4"), "w_scale": np.ones((4, 1)), "w_shape": np.array(shape)}


def four_bits(state):
    raw = {"w.quant_state.bitsandbytes__nf4": np.frombuffer(state, "u1")}
    return {"w": np.ones((8, 1), "u1"), "w.absmax": np.ones(1), "w.quant_map": np.ones(16), **raw}


LIES = {
    "scale": scaled(np.ones((5, 7))), "scale empty": scaled(np.ones((0, 12))), "scale text": scaled(np.array(["a"])),
    "scale nan": scaled(np.array(np.nan)), "scale axes": scaled(np.ones((1,) * 7)),
    "scale of itself": scaled(np.ones((12, 12), "i1")), "gptq groups": gptq((2, 8), (2, 64), 99),
    "gptq negative": gptq((2, 8), (2, 64), -1), "gptq none": gptq((0, 8), (0, 64)),
    "gptq zeros": gptq((2, 0), (2, 64)), "gptq vector": gptq(8, 64), "packed": compressed([2**40, 2**40]),
    "packed axes": compressed([4, 4, 4]), "packed negative": compressed([4, -16]),
    "mxfp4": {"w_blocks": np.ones((4, 3, 16), "u1"), "w_scales": np.full((4, 3), 255, "u1")},
    "state": four_bits(b"{"), "state empty": four_bits(b"{}"),
    "state huge": four_bits(b'{"shape": [99999999999, 99999999999], "blocksize": 64}'),
    "state zero": four_bits(b'{"shape": [4, 4], "blocksize": 0}'),
    "state text": four_bits(b'{"shape": "ab", "blocksize": "c"}'),
    "adapter": {"w.lora_A.weight": np.ones((2, 12)), "w.lora_B.weight": np.ones((12, 3))},
    "experts": {"experts.w": np.ones((0, 3, 3))}, "many experts": {"experts.w": np.ones((5000, 1, 1), "f4")},
    "vector": {"w": np.ones(12)}, "row": {"w": np.ones((1, 10**6), "f4")}, "column": {"w": np.ones((10**6, 1), "f4")},
    "taps": {"w": np.ones((1, 1, 40, 40), "f4")},
}  # fmt: skip


def archived(arrays):
    return zipped([(f"{name}.npy", npy(array)) for name, array in arrays.items()])


for name, found in LIES.items():
    case(f"g {name}", "a.npz", partial(archived, found))


def with_beside(name, content, folder):
    (folder / name).write_bytes(content)
    (folder / "model.npz").write_bytes(archived({"w": np.ones((12, 12), "i1"), "v.lora_A": W, "v.lora_B": W}))
    return folder


for name in ("config.json", "quantize_config.json", "adapter_config.json"):
    for i, content in enumerate((b"{", b"[1]", b'{"quantization_config": [1], "lora_alpha": "x"}', b"\xff", b"")):
        beside(f"g {name} {i}", partial(with_beside, name, content))
