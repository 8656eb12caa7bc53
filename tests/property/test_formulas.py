"""Any formula written out and read again is the same formula."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from qa.plan import formula as f

NAMES = st.sampled_from(["x", "Total sales", "and", "größe", "a`b", "2024", "select", "x.y", "Case"])
LITERALS = st.one_of(
    st.integers(-(10**18), 10**18), st.floats(allow_nan=False, allow_infinity=False, width=64).map(abs), st.booleans(), st.none(),
    st.sampled_from(["", "it's", 'say "hi"', "back\\slash", "ü 🙂", "a\nb", " as "]),
).map(f.Literal)  # fmt: skip
OWNED = st.one_of(NAMES.map(f.Name), st.tuples(NAMES, NAMES).map(lambda pair: f.Name(pair[0], pair[1])))


def _calls(inner: st.SearchStrategy[f.Node]) -> st.SearchStrategy[f.Node]:
    pair, listed = st.tuples(inner, inner), st.lists(inner, max_size=3).map(tuple)
    return st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*", "/", "//", "%", "^", "==", "!=", "<", "<=", ">", ">=", "and", "or"]), pair).map(lambda p: f.Call(p[0], p[1])),
        st.tuples(st.sampled_from(["not", "is null", "is not null"]), inner).map(lambda p: f.Call(p[0], (p[1],))),
        OWNED.map(lambda name: f.Call("neg", (name,))),
        st.tuples(inner, inner, inner).map(lambda args: f.Call("between", args)),
        st.tuples(st.sampled_from(["in", "not in"]), inner, listed).map(lambda p: f.Call(p[0], (p[1], f.Items(p[2])))),
        st.tuples(st.sampled_from(["concat", "coalesce", "greatest"]), listed).map(lambda p: f.Call(p[0], p[1])),
        st.tuples(inner, inner).map(lambda p: f.Call("sum", (p[0],), (("where", p[1]),))),
        st.tuples(inner, st.lists(OWNED, max_size=2).map(tuple)).map(lambda p: f.Call("mean", (p[0],), (("by", f.Items(p[1])),))),
        st.tuples(inner, inner, inner).map(lambda args: f.Call("case", args)),
    )  # fmt: skip


FORMULAS = st.recursive(st.one_of(LITERALS, OWNED), _calls, max_leaves=12)


@settings(max_examples=1000)
@given(FORMULAS)
def test_a_formula_written_out_is_read_back_the_same(node: f.Node) -> None:
    assert f.parse(f.format(node)) == node
