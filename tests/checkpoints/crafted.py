"""Files as a liar would write them."""

import json
import struct

import numpy as np

CODES = {"float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "uint8": "U8", "bool": "BOOL"}


def entry(dtype, shape, begin, end):
    """What a safetensors header says of one tensor."""
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def safetensors_bytes(header, values=b"", length=None):
    """A safetensors file of any header, a dict or bytes, and any stated length of it."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + values


def packed(arrays):
    """A valid safetensors file of arrays."""
    header, values = {}, b""
    for name, array in arrays.items():
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = entry(CODES[array.dtype.name], list(array.shape), len(values), len(values) + len(raw))
        values += raw
    return safetensors_bytes(header, values)
