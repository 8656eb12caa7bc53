"""Short forms that everybody reads the same way, folded: short -> what it may stand for."""

from __future__ import annotations

_TABLE = """
m: male | f: female
eng: engineering engineer | engr: engineer engineering | fin: finance | mktg: marketing | mkt: marketing market | mkting: marketing | hr: human resources
acct: accounting account | acctg: accounting | admin: administration administrative | mgmt: management | mgr: manager | ops: operations | tech: technology technical
it: information technology | rd: research and development research & development | r&d: research and development research & development | qa: quality assurance
dev: development | dept: department | cs: customer service | pr: public relations | pm: project management product management | legal dept: legal | exec: executive
sr: senior | jr: junior | asst: assistant | assoc: associate | dir: director | vp: vice president | ceo: chief executive officer | cfo: chief financial officer | cto: chief technology officer
intl: international | natl: national | govt: government | gov: government | univ: university | corp: corporation corporate | inc: incorporated
ltd: limited | bros: brothers | st: street | ave: avenue | rd.: road | blvd: boulevard | dr: drive | hwy: highway | apt: apartment | mt: mount | ft: fort
n: north | s: south | e: east | w: west | ne: northeast north east | nw: northwest north west | se: southeast south east | sw: southwest south west
jan: january | feb: february | mar: march | apr: april | jun: june | jul: july | aug: august | sep: september | sept: september | oct: october | nov: november | dec: december
mon: monday | tue: tuesday | tues: tuesday | wed: wednesday | thu: thursday | thur: thursday | thurs: thursday | fri: friday | sat: saturday | sun: sunday
us: united states united states of america | usa: united states united states of america | uk: united kingdom | uae: united arab emirates | eu: european union
de: germany deutschland | fr: france | nz: new zealand | za: south africa
qty: quantity | approx: approximate | temp: temporary | perm: permanent | ft.: full time | pt: part time | p/t: part time | f/t: full time
sm: small | med: medium | lg: large | xl: extra large | xs: extra small | hi: high | lo: low
elec: electronics electrical | electr: electronics | furn: furniture | access: accessories | misc: miscellaneous | info: information | edu: education | bio: biology
chem: chemistry | phys: physics | math: mathematics | maths: mathematics | econ: economics | bus: business | comp sci: computer science | cs.: computer science
al: alabama | ak: alaska | az: arizona | ar: arkansas | ca: california | ct: connecticut | fl: florida | ga: georgia | hi.: hawaii | id: idaho | il: illinois | ia: iowa
ks: kansas | ky: kentucky | la: louisiana | md: maryland | ma: massachusetts | mi: michigan | mn: minnesota | ms: mississippi | mo: missouri | nv: nevada | nh: new hampshire
nj: new jersey | nm: new mexico | ny: new york | nc: north carolina | nd: north dakota | oh: ohio | ok: oklahoma | pa: pennsylvania | ri: rhode island | sc: south carolina
sd: south dakota | tn: tennessee | tx: texas | ut: utah | vt: vermont | va: virginia | wa: washington | wv: west virginia | wi: wisconsin | wy: wyoming
"""


def _read(table: str) -> dict[str, tuple[str, ...]]:
    known: dict[str, tuple[str, ...]] = {}
    phrases = (
        "human resources",
        "research and development",
        "research & development",
        "information technology",
        "quality assurance",
        "customer service",
        "public relations",
        "project management",
        "product management",
        "vice president",
        "chief executive officer",
        "chief financial officer",
        "chief technology officer",
        "north east",
        "north west",
        "south east",
        "south west",
        "united states of america",
        "united states",
        "united kingdom",
        "united arab emirates",
        "european union",
        "new zealand",
        "south africa",
        "full time",
        "part time",
        "extra large",
        "extra small",
        "computer science",
        "new hampshire",
        "new jersey",
        "new mexico",
        "new york",
        "north carolina",
        "north dakota",
        "rhode island",
        "south carolina",
        "south dakota",
        "west virginia",
    )
    for entry in table.replace("\n", "|").split("|"):
        short, _, meanings = entry.partition(":")
        if not meanings.strip():
            continue
        rest, found = meanings.strip(), []
        for phrase in phrases:
            if phrase in rest:
                found.append(phrase)
                rest = rest.replace(phrase, " ")
        known[short.strip().rstrip(".")] = (*known.get(short.strip().rstrip("."), ()), *found, *rest.split())
    return known


STANDS_FOR = _read(_TABLE)
