"""Parameters of all chapters: each refuses what its declaration does not take, in one line, in its notebook, too."""

import ast
import io
import math
import re
import tokenize
from importlib import import_module
from pathlib import Path

import nbformat
import pytest
from pydantic import ValidationError

from capcore.checks.memory import TooLargeError
from chapters.kit.least_memory import Size
from chapters.kit.parameters import CHANGED, Declaration, note_changes, parameters_of, validated
from chapters.sweeps.notebooks import declaration_of
from tests.notebooks.conftest import own, refused  # noqa: F401  # fixtures

NOTEBOOKS = sorted((Path(__file__).resolve().parents[3] / "notebooks").glob("*.ipynb"))
DECLARED = {path.stem: import_module(f"chapters.{path.stem}.parameters").Parameters for path in NOTEBOOKS}
ALL = [(chapter, each) for chapter, declaration in DECLARED.items() for each in parameters_of(declaration)]
NO_SIZE = frozenset(
    "compared drawn_layers epochs fewest kernel_size max_iterations more_threads n_blocks seed target threads".split()  # noqa: SIM905
)
"""Whole numbers, or lists of them, that multiply time at most, or that another parameter bounds."""


ENDS = r".*\.( Did you mean '.*'\?)?( Papermill takes it as -y '.*', rerun as -p .* '.*'\.)?"
KINDS = {"integer": int, "number": float, "array": list, "null": type(None)}


def ids(value):
    return value if isinstance(value, str) else value.name


def unusable(schema, default):
    """Values of all kinds that a part of a declaration's JSON schema does not take."""
    kind = schema.get("type")
    for member in (members := schema.get("anyOf", [])):
        others = [KINDS[each["type"]] for each in members if each is not member]
        yield from (value for value in unusable(member, default) if type(value) not in others)
    if kind in ("integer", "number"):
        yield from beyond(schema)
        yield from (True, "4", None, [4], math.nan, math.inf, -math.inf)
    if kind == "integer":
        yield from (4.0, 1.5)
    if kind == "string":
        yield from (3, None, ["x"], True)
    if "enum" in schema:
        yield from (schema["enum"][0] + "x", "")
    if kind == "boolean":
        yield from (1, "true", None)
    if kind == "array":
        yield from (3, "3", None, {}, {"a": 1})
        whole = default if isinstance(default, list) and default else [2]
        if least := schema.get("minItems", 0):
            yield from ([], default[: least - 1])
        if "maxItems" in schema:
            yield [*default, default[-1]]
        yield from ([*whole[:-1], value] for value in unusable(schema["items"], whole[0]))
    if kind == "object":
        yield from (3, None, [], {"x": "y"}, {"x": math.nan}, {"x": True})


def beyond(schema):
    """Numbers just outside a range."""
    step = 1 if schema["type"] == "integer" else 1e-9
    yield from (schema[end] + sign * step for end, sign in (("minimum", -1), ("maximum", 1)) if end in schema)
    yield from (schema[end] for end in ("exclusiveMinimum", "exclusiveMaximum") if end in schema)
    yield from (16 + each for each in range(1, schema.get("multipleOf", 1)))


@pytest.mark.parametrize(("chapter", "parameter"), ALL, ids=ids)
def test_what_a_parameter_does_not_take_is_refused_in_one_line(chapter, parameter):
    values = list(unusable(parameter.schema, parameter.default))
    assert len(values) > 2
    for value in values:
        with pytest.raises(ValueError, match=rf"^{parameter.name}(\[.*?\])?: found .*, expected {ENDS}$") as caught:
            validated(DECLARED[chapter], {parameter.name: value})
        assert "\n" not in str(caught.value), value
        if isinstance(value, str) and value and "enum" in parameter.schema:
            assert f"Did you mean {value[:-1]!r}?" in str(caught.value)
        if parameter.schema.get("type") == "array" and not isinstance(value, list):
            assert f"-y '{parameter.name}: " in str(caught.value) and f"-p {parameter.name} '" in str(caught.value)


@pytest.mark.parametrize(("chapter", "parameter"), [pair for pair in ALL if pair[1].range], ids=ids)
def test_the_ends_of_a_range_are_taken(chapter, parameter):
    """Other rules may refuse them, such as memory, whose errors have no place; the parameter by itself does not."""
    schema = parameter.schema
    ends = [schema[end] for end in ("minimum", "maximum") if end in schema] + schema.get("enum", [])
    if "multipleOf" in schema:
        assert schema["minimum"] % schema["multipleOf"] == 0
    for value in ends:
        found = rejected(chapter, {parameter.name: value})
        assert all(error["loc"] == () for error in found), found


def rejected(chapter, given):
    """What pydantic has against values."""
    try:
        DECLARED[chapter].model_validate(given)
    except ValidationError as error:
        return error.errors()
    return []


@pytest.mark.parametrize("chapter", DECLARED)
def test_an_unknown_name_is_refused_with_the_nearest(chapter):
    known = [each.name for each in parameters_of(DECLARED[chapter])]
    for name in known:
        with pytest.raises(ValueError, match=f"^{name}_: not a parameter of this notebook.*Did you mean '{name}'"):
            validated(DECLARED[chapter], {name + "_": 1})


@pytest.mark.parametrize("chapter", DECLARED)
def test_a_notebooks_own_start_refuses(refused, chapter):  # noqa: F811
    """The cells up to it run, with what papermill would inject: a value, and a name that is none."""
    parameters = parameters_of(DECLARED[chapter])
    value = next(unusable(parameters[0].schema, parameters[0].default))
    refused(rf"^{parameters[0].name}(\[0\])?: found .*, expected", chapter, **{parameters[0].name: value})
    refused(f"not a parameter.* Expected {', '.join(each.name for each in parameters)}\\.", chapter, unheard_of=1)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_cell_of_parameters_says_what_is_declared(path):
    """Names, types, defaults and comments; and the notebook's declaration is that of its chapter."""
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    (cell,) = (cell for cell in cells if "parameters" in cell.metadata.get("tags", []))
    tokens = tokenize.generate_tokens(io.StringIO(cell.source).readline)
    comments = {each.start[0]: each.string for each in tokens if each.type == tokenize.COMMENT}
    nodes, declared = ast.parse(cell.source).body, parameters_of(DECLARED[path.stem])
    assert [node.target.id for node in nodes] == [each.name for each in declared]
    for node, each in zip(nodes, declared, strict=True):
        kind = each.kind.split(" of ")[0].replace(" or ", " | ")
        assert (ast.unparse(node.annotation), comments[node.lineno]) == (kind, f"# {each.comment}")
        default = eval(ast.unparse(node.value), {"__builtins__": {}})
        assert (default, type(default)) == (each.default, type(each.default))
    assert declaration_of(cell.source for cell in cells) is DECLARED[path.stem]


def test_channels_are_a_whole_number_wherever_they_are_called_so():
    kinds = {name: {each.kind for _, each in ALL if each.name == name} for name in ("channels", "channel_list")}
    assert kinds["channels"] == {"int"}
    assert all(kind.startswith("list") for kind in kinds["channel_list"]) and kinds["channel_list"]


@pytest.mark.parametrize(
    ("chapter", "given", "message"),
    [
        ("audio_scale", {"process_parameters": {"exponent": -1}}, "exponent: found -1"),
        ("hierarchical", {"process_parameters": {"hurst": 0.7}}, "parameter of PowerLaw: found 'hurst'"),
        ("frequency_allocation", {"process": "AR1", "process_parameters": {"phi": 2}}, "phi: found 2"),
        ("design_certificate", {"n_inputs": 100}, "n_inputs: found 100, expected a power of two"),
        ("design_certificate", {"max_params": 20}, "max_params: found 20, expected at least 28"),
        ("hierarchical", {"channel_list": [2, [2, 3]]}, r"channel_list: found \[2, 3\], .* each of the 5"),
        ("gaussian_prediction", {"channel_list": [[2, 3]]}, "channel_list: found"),
        ("frequency_allocation", {"channel_list": [[2, 3]]}, "channel_list: found"),
        ("hierarchical_errors", {"channels_by_layer": [2, 3]}, "channels_by_layer: found"),
        ("hierarchical_errors", {"channel_sweep": [[2, 3]]}, "channel_sweep: found"),
        ("hierarchical_layers", {"channels_by_layer": [2, 3]}, "channels_by_layer: found"),
        ("linear_systems", {"channels_by_layer": [2, 3]}, "channels_by_layer: found"),
        ("layer_redundancy", {"guided": [2, 4]}, "guided: found"),
        ("multidimensional", {"base_channels": [2, 1]}, r"base_channels: found \[2, 1\], expected ascending numbers"),
        ("multidimensional", {"dims": [4, 4]}, "dims: found .*, expected ascending numbers"),
        ("multidimensional", {"channel_list": [2, 1]}, "channel_list: found .*, expected ascending numbers"),
        ("multidimensional", {"low": -0.3}, "exponent: found -0.3"),
        ("multidimensional", {"process": "FractionalGaussianNoise", "high": 1.5}, "hurst: found 1.5"),
        ("multidimensional", {"low": 0.9, "high": 0.3}, "low: found 0.9, expected at most high = 0.3"),
        ("scaling_conjecture_recurrent", {"lengths": [8, 32]}, r"compared: found \[64, 1024\], .* two of \[8, 32\]"),
        ("scaling_conjecture_recurrent", {"compared": [1024, 64]}, "compared: found .*, the shorter first"),
        ("scaling_conjecture_recurrent", {"alpha": 50.0, "n_steps": 40}, "alpha: found 50, .* at most n_steps = 40"),
        ("scaling_pdes", {"kernel": {0: 1.0}}, "a positive rate at an offset other than 0"),
        ("scaling_pdes", {"kernel": {"1": -1.0}}, r"kernel\[1\]: found -1.0, expected float, at least 0"),
        ("scaling_pdes", {"kernel": {"left": 1.0}}, "kernel: found {'left': 1.0}, expected dict"),
        ("scaling_pdes", {"depths": [8, 16]}, "total rate of jumps, 128"),
        ("scaling_pdes", {"depths": [4, 8], "spreads": [1, 1.5]}, "total rate of jumps, 8"),
        ("scaling_pdes", {"spreads": [4, 4]}, "spreads: found .*, expected at least two different numbers"),
        ("scaling_pdes", {"target": [7, 1]}, "target: found layer 7"),
        ("scaling_pdes_layers", {"depths": [4, 8]}, "total rate of jumps, 8"),
        ("scaling_pdes_layers", {"leak": 9}, "leak: found 9, expected .* at most 3.5, half of the layers"),
        ("scaling_pdes_layers", {"strengths": [0]}, r"strengths: found \[0.0\], expected a number above 0 among them"),
        ("spectra_metrics", {"factor": 1.0}, "factor: found 1.0, expected a positive number other than 1"),
        ("hierarchical", {"channels": 3}, "Did you mean 'channel_list'.* Papermill takes it as -y 'channel_list: "),
    ],
    ids=str,
)
def test_rules_over_several_parameters(chapter, given, message):
    with pytest.raises(ValueError, match=message) as caught:
        validated(DECLARED[chapter], given)
    assert "\n" not in str(caught.value)


def test_values_become_what_their_types_say_and_changes_are_noted():
    values = validated(DECLARED["scaling_pdes"], {"kernel": {"-1": 2}, "spreads": [1, 4], "depths": [256, 512]})
    assert values["kernel"] == {-1: 2.0} and type(values["kernel"][-1]) is type(values["spreads"][0]) is float
    note_changes(DECLARED["scaling_pdes"], values)
    assert CHANGED == ["kernel", "depths", "spreads"]
    note_changes(DECLARED["scaling_pdes"], validated(DECLARED["scaling_pdes"], {"kernel": {"-1": 1, "1": 1}}))
    assert CHANGED == []


def test_a_number_of_thousands_of_digits_is_refused():
    with pytest.raises(ValueError, match=r"correlation: found a number of too many digits, expected float, between"):
        validated(DECLARED["idea"], {"correlation": 10**5000})


@pytest.mark.parametrize(
    ("declared", "made"),
    [
        (("along_training", "activation"), "effective_complexity.experiment:WEIGHT_SCALES"),
        (("effective_complexity", "activation"), "effective_complexity.experiment:WEIGHT_SCALES"),
        (("feature_space", "target"), "feature_space.study:TARGETS"),
        (("scaling_pdes", "boundary"), "scaling_pdes.paths:EDGES"),
        (("spectra_resnets", "network"), "shared.resnets:stored_networks"),
    ],
    ids=str,
)
def test_choices_are_those_of_the_code(declared, made):
    (parameter,) = (each for chapter, each in ALL if (chapter, each.name) == declared)
    module, name = made.split(":")
    found = getattr(import_module(f"chapters.{module}"), name)
    assert sorted(parameter.schema["enum"]) == sorted(found() if callable(found) else found)


def test_bases_are_those_of_the_package():
    from capcore.processes.features import Basis

    (parameter,) = (each for _, each in ALL if each.name == "bases")
    assert sorted(parameter.schema["items"]["enum"]) == sorted(basis.__name__ for basis in Basis.__subclasses__())


def sizes(chapter):
    """Name → what it counts."""
    fields = DECLARED[chapter].model_fields.items()
    return {name: kind for name, field in fields for kind in field.metadata if isinstance(kind, Size)}


def test_every_whole_number_is_a_size_or_none():
    found = {each.name for chapter, each in ALL if re.search(r"\bint\b", each.kind) and each.name not in sizes(chapter)}
    assert found == NO_SIZE, "a new parameter: say with its type what it counts, or add it here"


def test_whole_numbers_have_a_least_value():
    found = {
        (each.name, part.get("minimum"))
        for _, each in ALL
        for part in (each.schema, each.schema.get("items", {}), *each.schema.get("items", {}).get("anyOf", ()))
        if part.get("type") == "integer"
    }
    assert {name for name, least in found if least is None} == set()
    assert {name for name, least in found if least == 0} == {"seed"}


def test_images_are_as_many_as_there_are():
    from chapters.shared.data import digits

    assert {each.schema["maximum"] for _, each in ALL if each.name == "n_images"} == {len(digits().x)}


@pytest.mark.parametrize("chapter", DECLARED)
def test_a_small_machine_takes_the_parameters_as_they_stand(chapter, monkeypatch):
    monkeypatch.setenv("CAPCORE_MEMORY", "1e9")
    assert validated(DECLARED[chapter], {}) == {each.name: each.default for each in parameters_of(DECLARED[chapter])}


@pytest.mark.parametrize(
    ("chapter", "parameter"),
    [(chapter, each) for chapter, each in ALL if each.name in sizes(chapter) and "maximum" not in each.schema],
    ids=ids,
)
def test_every_size_is_refused_beyond_the_memory(chapter, parameter):
    size = 64 if sizes(chapter)[parameter.name] is Size.POWER else 8 * 10**13
    value = [*parameter.default[:-1], size] if isinstance(parameter.default, list) else size
    with pytest.raises(TooLargeError, match=f"^{parameter.name}: found {size}.*expected at most"):
        validated(DECLARED[chapter], {parameter.name: value})


def test_sizes_multiply():
    with pytest.raises(TooLargeError, match=r"n_layers: found 20, kernel_size 9"):
        validated(DECLARED["hierarchical_layers"], {"n_layers": 20, "kernel_size": 9})
    with pytest.raises(TooLargeError, match=r"n_layers: found 10000000, which takes"):
        validated(DECLARED["linear_regions"], {"n_layers": 10**7, "width": 100})


def test_importing_declarations_imports_no_large_package():
    import subprocess
    import sys

    code = (
        "import sys\nfrom importlib import import_module\n"
        f"for name in {sorted(DECLARED)}: import_module(f'chapters.{{name}}.parameters')\n"
        "print(sorted({'jax', 'pandas', 'matplotlib', 'sklearn', 'seaborn', 'papermill'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_chapter_without_parameters_needs_no_declaration():
    assert validated(Declaration, {}) == {}
    with pytest.raises(ValueError, match=r"n: not a parameter of this notebook\. Expected none\."):
        validated(Declaration, {"n": 1})
