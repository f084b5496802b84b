"""Tables of the site: one row of heads, numbers on one line, and cards on a phone where a column holds sentences."""

import pandas as pd
from bs4 import BeautifulSoup

from book._ext.table_rows import SENTENCE, arranged

LONG = "what it is, in a sentence that would not fit beside the other columns of a phone"


def soup(table):
    return BeautifulSoup(arranged(table), "html.parser")


def plain(rows, heads=("symbol", "name", "meaning")):
    return pd.DataFrame(rows, columns=list(heads)).to_html(index=False)


def test_names_of_index_and_columns_share_a_row():
    frame = pd.DataFrame({"loss": [0.1, 0.2]}, index=pd.Index([3, 4], name="channels")).rename_axis(columns="model")
    before, found = BeautifulSoup(frame.to_html(), "html.parser"), soup(frame.to_html())
    assert len(before.select("thead tr")) == 2
    assert [[cell.get_text() for cell in row.select("th")] for row in found.select("thead tr")] == [
        ["channels", "loss"]
    ]
    assert [cell.get_text() for cell in found.select("tbody *:not(tr)")] == ["3", "0.1", "4", "0.2"]


def test_two_rows_of_heads_that_both_say_something_stay():
    frame = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
    assert len(soup(frame.to_html()).select("thead tr")) == 2


def test_numbers_do_not_break_and_words_do():
    numbers, short = (
        ["3", "−0.12 [−0.29, 0.06]", "5e-04", "0.51 ± 0.14", "8.27 %", "1,024", "76 (62 to 88)"],
        ["", "Apache-2.0"],
    )
    words = ["three or four of them", "1 " * SENTENCE]
    cells = "".join(f"<td>{text}</td>" for text in numbers + short + words)
    found = soup(f"<table><tr>{cells}</tr></table>")
    assert [cell.get_text() for cell in found.select("td.number")] == numbers
    assert [cell.get_text() for cell in found.select("td.one-line")] == short


def test_the_head_of_numbers_stands_above_them():
    frame = pd.DataFrame({"licence": ["MIT", "BSD"], "error": [0.1, 0.2]}, index=pd.Index(["a", "b"], name="network"))
    frame = pd.concat({"both": frame})
    assert [cell.get_text() for cell in soup(frame.to_html()).select("th.number")] == ["error"]


def test_rows_with_sentences_become_cards_with_the_heads_beside_the_cells():
    found = soup(plain([["κ", "capacity", LONG], ["λ", "decay", "short"]]))
    assert found.select_one("table")["class"] == ["dataframe", "row-cards"]
    assert [cell["data-label"] for cell in found.select("tbody td")] == 2 * ["symbol", "name", "meaning"]


def test_other_tables_stay_tables():
    assert not soup(plain([["κ", LONG]], heads=("symbol", "meaning"))).select(".row-cards")
    assert not soup(plain([["κ", "capacity", "short"]])).select(".row-cards")
