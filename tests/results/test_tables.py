"""Tables and labelled arrays: they hold what the results hold, under names of the book, with units."""

import dataclasses

import numpy as np
import pytest

import capcore as cc
from capcore.results import tables as exports

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


def test_a_fit_has_a_row_for_each_coefficient():
    frame = FITTED.to_dataframe()
    assert frame.index.name == "lag" and list(frame.columns) == ["coefficient"]
    np.testing.assert_array_equal(frame["coefficient"], FITTED.coefficients)
    assert frame.attrs["loss"] == FITTED.loss and frame.attrs["units"]["coefficient"] == "output per input"
    large = cc.fit(ARCH, TASK, method="riemannian-newton")
    np.testing.assert_array_equal(large.to_dataframe()["target"], large.target)
    with pytest.raises(AttributeError, match="coefficients: found a result of method 'octaves'"):
        cc.fit(ARCH, TASK, method="octaves").to_dataframe()


def test_components_have_rows_of_their_own():
    arch = cc.Hierarchical(channels=1, n_layers=2, input_dim=2)
    fitted = cc.fit(arch, cc.Independent([TASK, cc.AR1(0.5)]))
    frame = fitted.to_dataframe()
    assert frame.index.names == ["lag", "component"] and frame.index[3] == (1, 1)
    assert frame.loc[(1, 1), "coefficient"] == fitted.coefficients[3]  # position-major


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
    frames = fit.to_dataframe(), alloc.to_dataframe(), alloc.to_dataframe("sensor"), alloc.to_dataframe("layer")
    assert [frame.index.names[-1] for frame in frames] == ["sensor"] * 4
    for ask in (alloc.to_dataframe, alloc.plot):
        with pytest.raises(ValueError, match=r"by: found .lag., expected one of .*, .layer., .octave., .sensor.\.$"):
            ask(by="lag")


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
    for ask, name in ((FITTED.to_dataframe, "pandas"), (DENSE.to_xarray, "xarray")):
        monkeypatch.setattr("capcore.checks.names.find_spec", lambda spec, name=name: spec != name or None)
        with pytest.raises(ModuleNotFoundError, match=f"^{name}: .*pip install {name}"):
            ask()


# --- labelled arrays: xarray is not in the lock -----------------------------------------------------------------------


@pytest.fixture
def xr():
    return pytest.importorskip("xarray")


def test_labelled_arrays_of_an_allocation(xr):
    found = DENSE.to_xarray()
    for name in ("per_lag", "per_octave", "per_eigenvector", "per_frequency"):
        assert float(found[name].sum()) == pytest.approx(DENSE.total, abs=1e-9)
        assert found[name].attrs["units"] == exports.CAPACITY
    assert found["marginal"].dims == ("layer", "lag") and found["first"].values.tolist() == [0, 1, 2, 4, 8]
    np.testing.assert_array_equal(found["marginal"].sel(layer="layer 3"), DENSE.layers["layer 3"].marginal)
    assert float(found["per_frequency"].sel(frequency=0.5)) == DENSE.per_frequency[-1]
    assert set(cc.allocate(ARCH, FITTED, TASK, method="octaves").to_xarray()) == {"per_octave", "first", "end"}


def test_labelled_arrays_of_a_network(xr, network):
    found = network.to_xarray()
    assert float(found["per_example"].sum()) == pytest.approx(network.total)
    np.testing.assert_array_equal(found["per_subspace"].sel(subspace="inputs"), network.per_subspace["inputs"])
    assert float(found["per_subspace"].sel(subspace="one", group=0)) == network.per_subspace["one"]
    assert found.attrs["is_optimum"] == 1


def test_attributes_are_what_a_netcdf_file_can_hold(xr, network):
    for found in (DENSE.to_xarray(), network.to_xarray()):
        assert all(isinstance(value, str | int | float) for value in found.attrs.values())
        assert not any(isinstance(value, bool) for value in found.attrs.values())
