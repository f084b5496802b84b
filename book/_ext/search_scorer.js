// Read by the search of the site: Sphinx's own weights, and pages that explain before pages that list.
const PLACES = [
  ["book/howto/", 6],
  ["notebooks/", 4],
  ["book/api/rooms/", -12],
  ["book/api/", -4],
];
var Scorer = {
  score: ([page, , , , score]) => score + (PLACES.find(([place]) => page.startsWith(place)) ?? ["", 2])[1],
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
