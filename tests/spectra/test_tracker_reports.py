"""What users asked in the public trackers of WeightWatcher and powerlaw, tried here.

Each test names the report and what was asked. The trackers are github.com/CalculatedContent/WeightWatcher/issues and
github.com/jeffalstott/powerlaw/issues. The networks are small ones with the names and proportions of those reported.
"""

import numpy as np
import pytest

import capcore as cc
from capcore.spectra import DensityOptions, SpectraOptions, compare_tails, fit_power_law
from capcore.spectra.weightwatcher import preset_table


@pytest.fixture
def normal(rng):
    """Draws Gaussian weights of a shape, in single precision."""
    return lambda *shape: rng.normal(size=shape).astype(np.float32)


def told(found):
    """Layer → its number of eigenvalues, and weight that has no exponent → the reason."""
    return {row.layer: row.n for row in found.spectra if row.ok}, found.failures


def test_embeddings_of_bert_are_analysed(normal):
    """WeightWatcher 72: the three embeddings of a BERT model were skipped, as layers of a type that was not found."""
    shapes = {"word": (600, 48), "position": (64, 48), "token_type": (2, 48)}
    weights = {f"embeddings.{name}_embeddings.weight": normal(*shape) for name, shape in shapes.items()}
    found = cc.spectra.report({**weights, "embeddings.LayerNorm.weight": np.ones(48)}, fast=True)
    analysed, left_out = told(found)
    word, position, token_type = weights
    assert analysed == {word: 48, position: 48}
    assert {row.kind for row in found.spectra} == {"embedding"}
    assert list(left_out) == [token_type] and "fewer than the minimum" in left_out[token_type]
    assert [row["longname"] for row in preset_table(weights).rows] == [
        "embeddings.word_embeddings",
        "embeddings.position_embeddings",
    ]


def test_recurrent_layers_are_analysed(normal):
    """WeightWatcher 303: is the analysis of a model with an LSTM still useful, if only supported layers are in it?

    All matrices of the recurrent layers are in the report, and the preset says which of them the tool leaves out.
    """
    recurrent = {"lstm.weight_ih_l0": normal(128, 24), "lstm.weight_hh_l0": normal(128, 32)}
    recurrent |= {"lstm.weight_ih_l0_reverse": normal(128, 24), "lstm.weight_hh_l0_reverse": normal(128, 32)}
    weights = {**recurrent, "lstm.bias_ih_l0": normal(128), "head.weight": normal(20, 64)}
    analysed, left_out = told(cc.spectra.report(weights, fast=True))
    assert list(analysed) == [*recurrent, "head.weight"] and not left_out
    preset = preset_table(weights)
    assert [row["longname"] for row in preset.rows] == ["head"]
    assert preset.left_out == dict.fromkeys(recurrent, "Its name does not end in .weight.")


def test_depthwise_convolutions_are_named(normal):
    """WeightWatcher 169: support for depthwise layers, as in EfficientNet.

    A depthwise kernel has one weight for each channel at a tap, which is no matrix: the reason says so, and which
    matrix it has when it is unfolded. That one can be analysed.
    """
    weights = {"depthwise.weight": normal(48, 1, 5, 5), "pointwise.weight": normal(64, 48, 1, 1)}
    analysed, left_out = told(cc.spectra.report(weights, fast=True))
    assert analysed == {"pointwise.weight": 48}
    assert "depthwise" in left_out["depthwise.weight"] and "48 × 25" in left_out["depthwise.weight"]
    options = SpectraOptions(DensityOptions("unfolded"), alternatives=())
    assert told(cc.spectra.report(weights, options=options)) == ({"depthwise.weight": 25, "pointwise.weight": 48}, {})


def test_training_is_seen_beside_chance(normal):
    """WeightWatcher 307: alpha fell from 28.94 to 4.2 in training, then rose slowly; how should this be read?

    The maintainer asked how many layers there are, and how alpha was averaged. A report has every layer, with the range
    that chance gives. Of noise with 384 rows and columns, an alpha such as 28.94 is within it.
    """
    noise, left = normal(384, 384), normal(384, 384)
    learnt = normal(384, 100) * np.arange(1, 101) ** -0.75 @ normal(100, 384)  # squares fall as i^−1.5
    steps = ({"trained.weight": noise, "left.weight": left}, {"trained.weight": noise + learnt, "left.weight": left})
    first, last = (cc.spectra.report(weights, n_resamples=0).table() for weights in steps)
    assert (first["null_p_value"] > 0.05).all() and (first["null_high"] > 28.94).all()
    assert last.loc["trained.weight", "null_p_value"] == pytest.approx(2 / 101)
    assert last.loc["trained.weight", "alpha"] < last.loc["trained.weight", "null_low"]
    assert last.loc["left.weight"].equals(first.loc["left.weight"])


def test_wav2vec2_is_analysed_to_its_end(normal):
    """WeightWatcher 128: wav2vec2 ended in a ``ValueError``, where a convolution reads a single channel.

    The model's other convolution stores its weights as norms and directions (weight norm), and has groups.
    """
    weights = {
        "feature_extractor.conv_layers.0.conv.weight": normal(64, 1, 10),
        "feature_extractor.conv_layers.1.conv.weight": normal(64, 64, 3),
        "encoder.pos_conv_embed.conv.weight_g": np.abs(normal(1, 1, 8)),
        "encoder.pos_conv_embed.conv.weight_v": normal(48, 12, 8),
        "lm_head.weight": normal(32, 48),
    }
    first, second, *_, head = weights
    analysed, left_out = told(cc.spectra.report(weights, fast=True))
    assert analysed == {second: 3 * 64, "encoder.pos_conv_embed.conv.weight": 8 * 12, head: 32}
    assert list(left_out) == [first] and "64 × 1" in left_out[first] and "64 × 10" in left_out[first]
    options = SpectraOptions(DensityOptions("pooled"), groups={"*pos_conv_embed*": 4}, alternatives=())
    analysed, _ = told(cc.spectra.report(weights, options=options))
    assert analysed["encoder.pos_conv_embed.conv.weight"] == 8 * 4 * 12


def test_exponents_below_one(rng):
    """powerlaw 79: can alpha be less than one? A power law with such an exponent has no finite mass, but with a cut-off
    it has."""
    values = 4.0 * rng.gamma(0.5, size=60_000)  # density x^−0.5 exp(−x/4)
    values = values[values >= 1.0]
    fit = fit_power_law(values, x_min=1.0)
    (test,) = compare_tails(values, fit, alternatives=("truncated power law",))
    assert fit.alpha > 1 and test.favours == "truncated power law"
    assert test.model.parameters["alpha"] == pytest.approx(0.5, abs=0.1)
    assert test.model.parameters["rate"] == pytest.approx(0.25, abs=0.025)
