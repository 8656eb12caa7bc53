"""Names of months and weekdays as people write them, folded, in a few languages."""

from __future__ import annotations

MONTHS: dict[str, int] = {
    word: number
    for number, words in enumerate(
        (
            "january jan januar janvier janv enero ene gennaio gen janeiro januari",
            "february feb februar februari fevrier fevr febrero febbraio fevereiro fev",
            "march mar marz maerz mrz mars marzo marco maart mrt",
            "april apr avril avr abril abr aprile",
            "may mai mayo maggio mag maio mei",
            "june jun juni juin junio giugno giu junho",
            "july jul juli juillet juil julio luglio lug julho",
            "august aug aout agosto ago augustus",
            "september sep sept septembre septiembre settembre set setembro",
            "october oct oktober okt octobre octubre ottobre ott outubro out",
            "november nov novembre noviembre novembro",
            "december dec dezember dez decembre diciembre dic dicembre dezembro desember",
        ),
        start=1,
    )
    for word in words.split()
}
WEEKDAYS = ["monday", "mon", "tuesday", "tue", "tues", "wednesday", "wed", "thursday", "thu", "thur", "thurs", "friday", "fri", "saturday", "sat", "sunday", "sun", "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag", "mo", "di", "mi", "do", "fr", "sa", "so", "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche", "lunes", "martes", "miercoles", "jueves", "viernes", "sabado", "domingo"]
