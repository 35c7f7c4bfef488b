"""Places that stand together: location classes, from what the text lets one conclude."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

NOWHERE = ""
"""The site of someone in the middle of the room: no place is there."""

PRINTED = "="
"""Begins a site that the game itself has named, as `=loc 17`: two such names are two sites."""


@dataclass(frozen=True, slots=True)
class Sites:
    """Sites of the places, as far as known. Knowledge only grows; what contradicts it is not taken over."""

    of: Mapping[str, str] = field(default_factory=dict)
    """Place → site."""
    apart: frozenset[frozenset[str]] = frozenset()
    """Pairs of sites that are known to be two."""
    whole: frozenset[str] = frozenset()
    """Sites all of whose places are known."""

    def site_of(self, place: str) -> str:
        """The site of a place; one that is not known yet may turn out to be that of another place too."""
        return self.of.get(place) or f"@{place}"

    def same(self, one: str, other: str) -> bool | None:
        """True if two sites are one; None if unknown."""
        if one == other:
            return True
        if one[0] == other[0] == PRINTED or frozenset((one, other)) in self.apart:
            return False
        return False if one in self.whole or other in self.whole else None

    def holds(self, site: str, place: str) -> bool | None:
        """True if a place is at a site; None if unknown."""
        known = self.of.get(place)
        if known is not None:
            return self.same(site, known)
        return False if site in self.whole else None

    def together(self, one: str, other: str) -> bool | None:
        """True if two places share a site; None if unknown."""
        if one == other:
            return True
        site = self.of.get(one)
        if site is not None:
            return self.holds(site, other)
        site = self.of.get(other)
        return None if site is None else self.holds(site, one)

    def put(self, place: str, site: str) -> Sites:
        """Take over that a place is at a site."""
        known = self.of.get(place)
        if known == site:
            return self
        if known is None:
            return replace(self, of={**self.of, place: site})
        return self._join(known, site)

    def _join(self, one: str, other: str) -> Sites:
        if self.same(one, other) is False:
            return self
        stays, goes = (one, other) if one[0] == PRINTED else (other, one)

        def now(site: str) -> str:
            return stays if site == goes else site

        return Sites(
            {place: now(site) for place, site in self.of.items()},
            frozenset(frozenset(map(now, pair)) for pair in self.apart),
            frozenset(map(now, self.whole)),
        )

    def part(self, one: str, other: str) -> Sites:
        """Take over that two sites are two."""
        if self.same(one, other) is not None:
            return self
        return replace(self, apart=self.apart | {frozenset((one, other))})

    def complete(self, site: str, places: Iterable[str]) -> Sites:
        """Take over that just these places are at a site."""
        sites = self
        for place in places:
            sites = sites.put(place, site)
        return sites if site in sites.whole else replace(sites, whole=sites.whole | {site})

    def at(self, site: str) -> tuple[str, ...]:
        """The places known to be at a site."""
        return tuple(place for place, known in self.of.items() if known == site)
