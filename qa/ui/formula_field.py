"""A field for formulas that completes the names of columns and functions while one types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import streamlit as st

from qa.data.table import Table
from qa.plan.functions import FUNCTIONS
from qa.ui.words import cut

Word = tuple[str, str]
"""what is inserted, and what is said about it"""

HTML = """
<div class="field">
  <label></label>
  <textarea rows="1" spellcheck="false" autocapitalize="off" autocomplete="off" role="combobox"
    aria-autocomplete="list" aria-expanded="false" aria-controls="words"></textarea>
  <ul id="words" role="listbox" aria-label="Names that fit" hidden></ul>
</div>
"""
CSS = """
:host { position: relative; display: block; }
:host(:focus-within) { z-index: 20; }
.field { position: relative; font: 1rem/1.5 var(--st-font); color: var(--st-text-color); }
label { display: block; font-size: .875rem; margin-bottom: .25rem; }
textarea { display: block; width: 100%; box-sizing: border-box; resize: none; overflow: hidden; field-sizing: content;
  font: .9rem/1.5 var(--st-code-font); color: inherit; background: var(--st-secondary-background-color);
  border: 1px solid var(--st-border-color); border-radius: var(--st-base-radius); padding: .5rem .75rem; min-height: 2.5rem; }
textarea:focus { outline: none; border-color: var(--st-primary-color); }
ul { position: absolute; z-index: 9; left: 0; right: 0; margin: .25rem 0 0; padding: .25rem; list-style: none;
  max-height: 15rem; overflow-y: auto; background: var(--st-background-color); border: 1px solid var(--st-border-color);
  border-radius: var(--st-base-radius); box-shadow: 0 4px 16px rgba(0, 0, 0, .16); }
ul[hidden] { display: none; }
li { display: flex; gap: .75rem; align-items: baseline; padding: .3rem .5rem; border-radius: .3rem; cursor: pointer; }
li[aria-selected="true"] { background: var(--st-secondary-background-color); }
li code { font: .875rem var(--st-code-font); white-space: nowrap; }
li span { font-size: .8rem; opacity: .8; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
"""
JS = r"""
const MOST = 8, PAUSE = 700;

const bare = w => w[0].replace(/[`(]/g, '').toLowerCase();
const low_of = typed => typed.replace(/^`/, '').toLowerCase();

function matches(words, typed) {
  const low = low_of(typed);
  if (!low) return [];
  const starts = words.filter(w => bare(w).startsWith(low) && bare(w) !== low);
  const holds = words.filter(w => !bare(w).startsWith(low) && low.length > 1 && bare(w).includes(low));
  return [...starts, ...holds].slice(0, MOST);
}

function before(box) {
  const text = box.value.slice(0, box.selectionStart);
  if ((text.match(/'/g) || []).length % 2) return '';
  const found = text.match(/`[^`\n]*$|(?<![\p{L}\p{N}_.])[\p{L}_][\p{L}\p{N}_]*$/u);
  return found && !(found[0][0] === '`' && (text.match(/`/g).length % 2 === 0)) ? found[0] : '';
}

export default function ({ parentElement, data, setStateValue }) {
  const box = parentElement.querySelector('textarea'), list = parentElement.querySelector('ul');
  const held = box.held || (box.held = { chosen: -1, shown: [], timer: 0 });
  held.data = data;
  held.send = setStateValue;
  parentElement.querySelector('label').textContent = data.label;
  box.setAttribute('aria-label', data.label);
  if (held.stamp !== data.stamp) {
    held.stamp = data.stamp;
    held.sent = box.value = data.value;
    box.rows = data.value.split('\n').length;
  }
  if (held.ready) return;
  held.ready = true;

  const send = () => {
    clearTimeout(held.timer);
    if (box.value !== held.sent) held.send('value', held.sent = box.value);
  };
  const close = () => {
    list.hidden = true;
    held.shown = [];
    box.setAttribute('aria-expanded', 'false');
    box.removeAttribute('aria-activedescendant');
  };
  const mark = place => {
    held.chosen = place;
    [...list.children].forEach((item, n) => item.setAttribute('aria-selected', String(n === place)));
    box.setAttribute('aria-activedescendant', `word-${place}`);
    list.children[place].scrollIntoView({ block: 'nearest' });
  };
  const open = () => {
    held.shown = matches(held.data.words, before(box));
    if (!held.shown.length) return close();
    list.replaceChildren(...held.shown.map(([word, about], n) => {
      const item = document.createElement('li'), code = document.createElement('code'), said = document.createElement('span');
      code.textContent = word;
      said.textContent = about;
      item.append(code, said);
      item.id = `word-${n}`;
      item.setAttribute('role', 'option');
      item.onmousedown = event => { event.preventDefault(); take(n); };
      return item;
    }));
    list.hidden = false;
    box.setAttribute('aria-expanded', 'true');
    // A word that is whole already is not replaced by pressing Enter.
    if (held.data.words.some(w => bare(w) === low_of(before(box)))) held.chosen = -1;
    else mark(0);
  };
  const take = place => {
    const word = held.shown[place][0], end = box.selectionStart, start = end - before(box).length;
    box.setRangeText(word, start, end, 'end');
    close();
    later();
  };
  const later = () => { clearTimeout(held.timer); held.timer = setTimeout(send, PAUSE); };

  box.addEventListener('input', () => { box.rows = box.value.split('\n').length; open(); later(); });
  box.addEventListener('blur', () => { close(); send(); });
  box.addEventListener('keydown', event => {
    const count = held.shown.length;
    if (count && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      mark((held.chosen + (event.key === 'ArrowDown' ? 1 : count - (held.chosen < 0 ? 0 : 1))) % count);
    } else if (count && held.chosen >= 0 && (event.key === 'Enter' || event.key === 'Tab')) {
      take(held.chosen);
    } else if (count && event.key === 'Escape') {
      close();
    } else if (event.key === 'Enter' && !held.data.lines) {
      close();
      send();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  });
}
"""

_field = st.components.v2.component("formula_field", html=HTML, css=CSS, js=JS)


def formula_field(label: str, value: str, words: Sequence[Word], key: str, *, lines: bool = False) -> str:
    """A field that holds `value` at first; gives its text as it is now. `lines` takes a formula a line.

    A new `key` is a new field, which shows its `value` again.
    """
    data = {"label": label, "value": value, "words": [list(word) for word in words], "lines": lines, "stamp": key}
    result = _field(key=key, data=data, default={"value": value}, on_value_change=_nothing)
    return str(result.value if result.value is not None else value)


def _nothing() -> None:
    """The run that follows reads the value."""


def words_of(tables: Iterable[Table], more: Iterable[str] = ()) -> list[Word]:
    """Every column of these tables, the names in `more`, and every function."""
    columns = {_spelled(c.name): f"{c.kind.value} of {table.name}" for table in tables for c in table.columns}
    named = {_spelled(name): "made by an earlier step" for name in more if _spelled(name) not in columns}
    functions = {f"{f.name}(": cut(f.doc, 90) for f in FUNCTIONS.values() if not f.operator}
    return [*columns.items(), *named.items(), *functions.items()]


def _spelled(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else f"`{name}`"
