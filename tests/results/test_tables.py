"""Tables: they hold what the results hold, under names of the book, with units."""

import dataclasses

import numpy as np
import pytest

import capcore as cc

TASK = cc.PowerLaw()
ARCH = cc.Hierarchical(channels=2, n_layers=4)
FITTED = cc.fit(ARCH, TASK)
DENSE = cc.allocate(ARCH, FITTED, TASK)
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(20, 3)), RNG.normal(size=(20, 2))


def linear(w, x):
    return x @ w


@pytest.fixture(scope="module", params=["dense", "dual"])
def network(request):
    subspaces = {"inputs": cc.networks.inputs(X), "one": RNG.normal(size=(40, 2))}
    return cc.allocate_network(linear, np.linalg.lstsq(X, Y)[0], X, Y, subspaces=subspaces, method=request.param)


@pytest.mark.parametrize(
    ("by", "index", "columns", "total"),
    [
        (None, ["lag"], ["capacity", "missed"], 14),
        ("octave", ["octave"], ["first", "end", "capacity"], 14),
        ("layer", ["layer", "lag"], ["independent", "forward", "backward", "marginal"], None),
        ("eigenvector", ["eigenvector"], ["eigenvalue", "capacity"], 14),
        ("frequency", ["frequency"], ["capacity"], 14),
    ],
)
def test_tables_of_an_allocation(by, index, columns, total):
    frame = DENSE.to_dataframe(by)
    assert frame.index.names == index and list(frame.columns) == columns and not frame.isna().any(axis=None)
    assert set(frame.attrs["units"]) >= set(columns) and all(frame.attrs["units"][name] for name in columns)
    assert frame.attrs["total"] == DENSE.total and frame.attrs["model"] == repr(ARCH)
    if total:
        assert frame["capacity"].sum() == pytest.approx(DENSE.total, abs=1e-9)
    else:
        sums = frame.groupby("layer", sort=False).sum()
        assert sums.loc["layer 2"].to_dict() == pytest.approx(DENSE.layers["layer 2"].totals, abs=1e-9)
        assert frame.loc[("layer 3", 5), "marginal"] == DENSE.layers["layer 3"].marginal[5]


def test_inputs_have_the_name_that_their_covariance_gives_them():
    problem = cc.FromCovariance(np.eye(8) + 0.5, target=np.arange(8.0), inputs="sensor")
    fit = cc.fit(cc.Hierarchical(channels=1, n_layers=3), problem)
    alloc = cc.allocate(fit.arch, fit, problem)
    frames = alloc.to_dataframe(), alloc.to_dataframe("sensor"), alloc.to_dataframe("layer")
    assert [frame.index.names[-1] for frame in frames] == ["sensor"] * 3
    with pytest.raises(ValueError, match=r"by: found .lag., expected one of .*, .layer., .octave., .sensor.\.$"):
        alloc.to_dataframe(by="lag")


def test_octaves_are_the_rows_where_inputs_are_not_listed():
    frame = cc.allocate(ARCH, FITTED, TASK, method="octaves").to_dataframe()
    assert frame["first"].tolist() == [0, 1, 2, 4, 8] and frame["end"].tolist() == [1, 2, 4, 8, 16]


@pytest.mark.parametrize("by", ["input", "layers", 3, None, np.nan, ["lag"]])
def test_another_kind_of_row_is_refused_with_those_that_there_are(by, network):
    if by is not None:
        with pytest.raises(ValueError, match=r"^by: found .*, expected one of 'eigenvector', 'frequency', 'lag'"):
            DENSE.to_dataframe(by)
    with pytest.raises(ValueError, match=r"^by: found .*, expected one of 'example', 'layer', 'output', 'subspace'"):
        network.to_dataframe(by)


def test_tables_of_a_network(network):
    for by in ("example", "output"):
        frame = network.to_dataframe(by)
        assert frame.index.name == by and list(frame.columns) == ["capacity"]
        assert frame["capacity"].sum() == pytest.approx(network.total)
    frame = network.to_dataframe("subspace")
    assert frame.loc[("inputs", 2), "capacity"] == network.per_subspace["inputs"][2]
    assert frame.loc[("one", 0), "capacity"] == network.per_subspace["one"] and len(frame) == 4
    assert network.to_dataframe("layer").loc["all parameters", "marginal"] == pytest.approx(network.total)
    bare = dataclasses.replace(network, per_subspace={})
    assert len(bare.to_dataframe("subspace")) == 0


def test_one_sentence_names_what_is_not_installed(monkeypatch):
    monkeypatch.setattr("capcore.checks.names.find_spec", lambda name: name != "pandas" or None)
    with pytest.raises(ModuleNotFoundError, match=r"^pandas: .*pip install pandas"):
        DENSE.to_dataframe()
