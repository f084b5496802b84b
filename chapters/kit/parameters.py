"""Parameters of notebooks: ``chapters/<chapter>/parameters.py`` declares what they may be, once.

A declaration is a pydantic model with a type, a default, a range and a meaning for each parameter, and validators for
what concerns several::

    class Parameters(Declaration):
        width: Annotated[Width, Field(ge=2, description="units of the hidden layer")] = 16
        seed: Seed = Field(0, description="of its weights")

The notebook's own refusals (``kit.start``), those of ``rerun`` and ``sweep``, their help and the book's table come
from it. The notebook's cell of parameters repeats it for a reader and for papermill, and a test holds that they agree.

Types are strict: ``True`` is not 1, ``"4"`` and ``4.0`` are not 4. A whole number is taken where a number is asked for.
Importing a declaration is cheap; validators import what they need when they are called.
"""

import json
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self, TypeAlias

from annotated_types import Ge, Gt, Le, MinLen
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from capcore.processes import FAMILIES, REGISTRY
from chapters.kit.least_memory import Size, check_sizes

CHANGED: list[str] = []
"""Names of this run's parameters that differ from the book's; filled by ``start``, read by claim boxes."""

Whole = Annotated[int, Ge(1)]
"""A whole number that sets no size, or none alone."""
Count = Annotated[int, Ge(1), Size.COUNT]
Width = Annotated[int, Ge(1), Size.WIDTH]
Depth = Annotated[int, Ge(1), Size.DEPTH]
Power = Annotated[int, Ge(1), Size.POWER]
Square = Annotated[int, Ge(1), Size.SQUARE]
Seed = Annotated[int, Ge(0)]
Widths = Annotated[list[Width], MinLen(1), Size.WIDTH]
Depths = Annotated[list[Annotated[Count, Ge(2)]], MinLen(2), Size.COUNT]
"""Numbers of layers or steps that are compared."""
Path = Annotated[str, Field(json_schema_extra={"format": "path"})]
"""A file's path. ``rerun`` and ``sweep`` take it from the folder that they are called in; empty for none."""
ProcessParameters = Annotated[dict[str, float], Field(examples=[{"exponent": 0.5}])]
Positive = Annotated[float, Gt(0)]
Share = Annotated[float, Ge(0), Le(1)]
LIST, LISTS = "a list by layer", "a list of lists by layer"
ByLayer = Annotated[list[Width], Size.WIDTH, LIST]
"""One number for each hidden layer, or none at all."""
Models = Annotated[list[Width | list[Width]], MinLen(1), Size.WIDTH, LISTS]
"""A model each: its channels, or a list of those of each hidden layer."""
if TYPE_CHECKING:
    Process: TypeAlias = str
    Family: TypeAlias = str
else:
    Process = Literal[tuple(REGISTRY)]
    Family = Literal[tuple(FAMILIES)]
"""Of :func:`capcore.make_process`; or one of the five that the book's studies run over."""


def _ascending(values: list[int]) -> list[int]:
    if sorted(set(values)) != values:
        raise ValueError("expected ascending numbers")
    return values


Ascending = Annotated[Widths, AfterValidator(_ascending)]


class Declaration(BaseModel):
    """What a chapter's declaration, called ``Parameters``, is made from."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, frozen=True)

    @model_validator(mode="after")
    def _fit_into_memory(self) -> Self:
        marks = {name: field.metadata for name, field in type(self).model_fields.items()}
        counted = {name: mark for name, known in marks.items() for mark in known if isinstance(mark, Size)}
        check_sizes(dict(self), counted)
        return self

    @model_validator(mode="after")
    def _have_a_number_for_each_layer(self) -> Self:
        n = getattr(self, "n_layers", 6) - 1
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            models = value if LISTS in field.metadata else [value] if LIST in field.metadata and value else []
            for model in models:
                if isinstance(model, list) and len(model) != n:
                    raise ValueError(f"{name}: found {model}, expected one number for each of the {n} hidden layers.")
        return self


class WithProcess(Declaration):
    """A declaration that begins with a process."""

    process: Process = Field("PowerLaw", description="family of the process")
    process_parameters: ProcessParameters = Field({}, description="of that family; empty for its defaults")

    @model_validator(mode="after")
    def _make_a_process(self) -> Self:
        from capcore.processes import make_process

        make_process(self.process, **self.process_parameters)
        return self


class Parameter(NamedTuple):
    """One parameter as its declaration describes it, with the part of the JSON schema that says what it may be.

    Attributes
    ----------
    kind : str
        Its type in words: ``list of int``.
    range : str
        In words, or its choices; empty where there is none.
    """

    name: str
    default: Any
    schema: Mapping[str, Any]
    kind: str
    range: str
    meaning: str

    @property
    def comment(self) -> str:
        """What the notebook's cell says beside it: the meaning, and a range unless it goes without saying."""
        is_process = not set(REGISTRY).isdisjoint(self.schema.get("enum", ()))
        if is_process or self.range in ("", "at least 0", "at least 1", "each at least 1") or len(self.range) > 90:
            return self.meaning
        return f"{self.meaning} ({self.range})"

    @property
    def example(self) -> Any:
        """A value that it may have."""
        return self.default or self.schema.get("examples", [self.default])[0]


@cache
def parameters_of(declaration: type[BaseModel]) -> tuple[Parameter, ...]:
    """All parameters of a declaration, in its order.

    >>> class Parameters(Declaration):
    ...     width: Annotated[Width, Field(ge=4, description="units")] = 16
    >>> (found,) = parameters_of(Parameters)
    >>> found.kind, found.default, found.range, found.comment
    ('int', 16, 'at least 4', 'units (at least 4)')
    """
    schemas, found = declaration.model_json_schema().get("properties", {}), []
    for name, field in declaration.model_fields.items():
        schema = schemas[field.alias or name]
        words = _kind(schema), _range(schema), schema.get("description", "")
        found.append(Parameter(field.alias or name, field.get_default(call_default_factory=True), schema, *words))
    return tuple(found)


def validated(declaration: type[BaseModel], given: Mapping[str, Any], where: str = "this notebook") -> dict[str, Any]:
    """All parameters, those that are not ``given`` at their defaults; each as its type has it.

    Raises ``ValueError`` with one line for the first that cannot be used.

    >>> class Parameters(Declaration):
    ...     width: Width = Field(16, description="units")
    >>> validated(Parameters, {"widht": 8})
    Traceback (most recent call last):
    ...
    ValueError: widht: not a parameter of this notebook. Expected width. Did you mean 'width'?
    """
    known = {parameter.name: parameter for parameter in parameters_of(declaration)}
    for name, value in given.items():
        if name not in known:
            close = nearest(name, known)
            hint = f" Did you mean {close!r}?{_how_to_give(known[close], value)}" if close else ""
            raise ValueError(f"{name}: not a parameter of {where}. Expected {', '.join(known) or 'none'}.{hint}")
    try:
        return declaration.model_validate(dict(given)).model_dump(by_alias=True)
    except ValidationError as error:
        first = error.errors()[0]
    if not first["loc"]:
        raise first["ctx"]["error"] from None
    raise ValueError(_refusal(known[str(first["loc"][0])], first, given))


def note_changes(declaration: type[BaseModel], values: Mapping[str, Any]) -> None:
    """Fill :data:`CHANGED` with the names of ``values`` that differ from the declaration's."""
    defaults = {parameter.name: parameter.default for parameter in parameters_of(declaration)}
    CHANGED[:] = [name for name, value in values.items() if value != defaults[name]]


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The one of the ``known`` that is spelt most alike, if any is."""
    return next(iter(get_close_matches(name, list(known), n=1, cutoff=0.5)), None)


def _refusal(parameter: Parameter, error: Any, given: Mapping[str, Any]) -> str:
    """One line for an error that pydantic found in one parameter, at the place where it found it."""
    place, schema, value = parameter.name, parameter.schema, given[parameter.name]
    for step in error["loc"][1:] if "[key]" not in error["loc"] else ():
        inner = schema.get("items" if isinstance(value, list) else "additionalProperties")
        if not inner:  # the rest names members of a union
            break
        place, schema = f"{place}[{step}]", inner
        value = value[step] if isinstance(value, list) or step in value else value[str(step)]
    expected = ", ".join(filter(None, ["" if "enum" in schema else _kind(schema), _range(schema)]))
    own = str(error["ctx"]["error"]) if error["type"] == "value_error" else f"expected {expected}"
    how = _how_to_give(parameter, given[parameter.name])
    close = nearest(value, schema.get("enum", ())) if isinstance(value, str) else None
    hint = f" Did you mean {close!r}?" if close else ""
    return f"{place}: found {_shown(value)}, {own}.{hint}{how}"


def _shown(value: Any) -> str:
    """A value as Python writes it; of a long one its beginning."""
    try:
        text = repr(value)
    except ValueError:  # Python does not write whole numbers of more than 4,300 digits
        return "a number of too many digits"
    return text if len(text) <= 200 else f"{text[:200]}…"


def _how_to_give(parameter: Parameter, value: Any) -> str:
    """For a list or mapping that something else was given for: how a command line takes it."""
    kind = {"array": list, "object": dict}.get(parameter.schema.get("type", ""))
    if kind is None or isinstance(value, kind):
        return ""
    text, name = json.dumps(parameter.example, default=str).replace('"', ""), parameter.name
    return f" Papermill takes it as -y '{name}: {text}', rerun as -p {name} '{text}'."


def _kind(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(_kind, schema["anyOf"])))
    if schema.get("type") == "array" and schema.get("items"):
        inner = _kind(schema["items"])
        return f"list of ({inner})" if " or " in inner else f"list of {inner}"
    words = {"integer": "int", "number": "float", "string": "str", "boolean": "bool", "array": "list", "object": "dict"}
    return words.get(schema.get("type", ""), "None" if schema.get("type") == "null" else "any")


def _range(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        return next(filter(None, map(_range, schema["anyOf"])), "")
    if "enum" in schema:
        *others, last = _choices(schema)
        return f"{', '.join(others)} or {last}" if others else last
    if schema.get("type") == "array":
        each = _range(schema.get("items", {}))
        least, most = schema.get("minItems", 1), schema.get("maxItems")
        many = "" if least < 2 else f"{least} of them" if least == most else f"at least {least} of them"
        return ", ".join(filter(None, [many, f"each {each}" if each and not each.startswith("each") else each]))
    return _numbers(schema)


def _choices(schema: Mapping[str, Any]) -> list[str]:
    """The choices, in quotation marks where commas are in them."""
    texts = list(map(str, schema["enum"]))
    return [f'"{text}"' for text in texts] if any("," in text for text in texts) else texts


ENDS = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}


def _numbers(schema: Mapping[str, Any]) -> str:
    """The range of a number."""
    text = " and ".join(f"{words} {schema[end]:,.10g}" for end, words in ENDS.items() if end in schema)
    text = re.sub("at least (.*) and at most (.*)", r"\1 to \2", text)
    text = re.sub("above (.*) and below (.*)", r"between \1 and \2", text)
    return text + (f", a multiple of {schema['multipleOf']}" if "multipleOf" in schema else "")
