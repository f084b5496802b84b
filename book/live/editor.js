// The editor of a block of code: CodeMirror, in the colours of the page. Loaded when a block is first edited.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { HighlightStyle, bracketMatching, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState, Prec } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";

// Names of the style sheet's classes for highlighted code, so that light and dark pages look as before.
const classes = [
  [[tags.keyword, tags.controlKeyword, tags.definitionKeyword, tags.moduleKeyword, tags.operatorKeyword], "k"],
  [[tags.string, tags.special(tags.string)], "s2"],
  [[tags.number], "mi"],
  [[tags.bool, tags.null], "kc"],
  [[tags.comment], "c1"],
  [[tags.operator], "o"],
];
const style = HighlightStyle.define(classes.map(([tag, name]) => ({ tag, class: name })));

/** An editor in a parent, which calls `run` for Shift+Enter and `leave` for Escape. */
export function edit(parent, code, label, { run, leave, changed }) {
  const keys = [
    { key: "Shift-Enter", run: () => (run(), true) },
    { key: "Mod-Enter", run: () => (run(), true) },
    { key: "Escape", run: () => (leave(), true) },
  ];
  return new EditorView({
    parent,
    state: EditorState.create({
      doc: code,
      extensions: [
        Prec.high(keymap.of(keys)),
        history(),
        indentUnit.of("    "),
        bracketMatching(),
        python(),
        syntaxHighlighting(style),
        keymap.of([...defaultKeymap, ...historyKeymap]),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
        EditorView.updateListener.of((update) => update.docChanged && changed()),
      ],
    }),
  });
}
