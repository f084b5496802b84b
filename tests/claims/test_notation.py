import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from chapters.claims.notation import pieces, to_html
from chapters.claims.registry import load


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("|κ(R^30) − dim 𝒦|", "|κ(R<sup>30</sup>) − dim 𝒦|"),
        ("X in 𝒦^⊥, random", "X in 𝒦<sup>⊥</sup>, random"),
        ("a target in 𝒦_φ^⊥", "a target in 𝒦<sub>φ</sub><sup>⊥</sup>"),
        ("Σ_j κ_i^j| ≤ κ_{i+1}", "Σ<sub>j</sub> κ<sub>i</sub><sup>j</sup>| ≤ κ<sub>i+1</sub>"),
        ("c_τ = (1+τ)^(-1/2).", "c<sub>τ</sub> = (1+τ)<sup>-1/2</sup>."),
        ("|e_S²/e² − n·λ_max|", "|e<sub>S</sub>²/e² − n·λ<sub>max</sub>|"),
        ("E_|k−j||", "E<sub>|k−j|</sub>|"),
        ("x_j(next), k_ij", "x<sub>j</sub>(next), k<sub>ij</sub>"),
        ("a < b & c", "a &lt; b &amp; c"),
        (
            "rank_tolerance, n_inputs and `__init__`, 2 ^ 3, a_ b",
            "rank_tolerance, n_inputs and `__init__`, 2 ^ 3, a_ b",
        ),
        ("", ""),
    ],
)
def test_raised_and_lowered(text, html):
    assert to_html(text) == html


@given(st.text(alphabet="aκ𝒦S2²⊥^_(){}|<&; ", max_size=20))
def test_nothing_but_marks_and_brackets_is_dropped(text):
    shown = BeautifulSoup(to_html(text), "html.parser").get_text()
    assert shown == "".join(part for _, part in pieces(text))
    rest = iter(text)
    assert all(character in rest for character in shown), "the characters shown stand in the text in this order"
    assert set(text) - set(shown) <= set("^_(){}")


def test_the_registry_leaves_no_mark_unread():
    for claim in load():
        texts = [claim.claim, claim.source, claim.sentence, claim.changed or ""]
        texts += [text for c in claim.checks for text in (c.quantity, c.statement, c.why, c.correction or "")]
        for text in texts:
            plain = [part for kind, part in pieces(text) if kind == "text"]
            assert not any("^" in part or "_" in part for part in plain), f"{claim.id}: {text}"
