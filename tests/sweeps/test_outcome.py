"""What a notebook gave, as a sweep and ``rerun`` read it from its outputs."""

import json

import pytest

from capcore.sweeps import canonical, read_regular
from chapters.kit.publish import GLUE_PREFIX
from chapters.sweeps.outcome import published


def output(name=None, text=None):
    metadata = {} if name is None else {"scrapbook": {"name": name}}
    data = {"text/plain": "7"} if text is None else {f"{GLUE_PREFIX}text/plain": text}
    return {"output_type": "display_data", "metadata": metadata, "data": data}


def test_only_what_has_a_name_and_a_text_is_published_and_claims_are_not():
    outputs = [output("x", "0.25"), output("P1.02.gap", "0.5"), output("a figure"), output(None, "3"), output()]
    assert published({"cells": [{"cell_type": "code", "outputs": outputs}]}) == {"x": 0.25}


def test_a_value_has_one_text_in_whatever_order_it_comes():
    assert canonical({"b": 1, "a": [2]}) == canonical({"a": [2], "b": 1}) == '{"a":[2],"b":1}'
    assert json.loads(canonical({"α": 1})) == {"α": 1}


def test_a_file_is_read_up_to_the_last_byte_that_is_allowed(tmp_path):
    (tmp_path / "f").write_bytes(b"12345")
    assert read_regular(tmp_path / "f", 5) == b"12345"
    with pytest.raises(ValueError, match="more than 4 bytes"):
        read_regular(tmp_path / "f", 4)
