"""Summaries of channels."""

from typing import Any


class _ChannelSummaryMixin:
    """Names in `channels`, a keyword, are sorted; other arguments are passed on."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        channels = kwargs.pop("channels")
        super().__init__(*args, **kwargs)
        nbins = {channel["name"]: len(channel["samples"][0]["data"]) for channel in channels}
        samples = [sample for channel in channels for sample in channel["samples"]]
        self._channels = sorted(nbins)
        self._samples = sorted({sample["name"] for sample in samples})
        self._modifiers = sorted(
            {(modifier["name"], modifier["type"]) for sample in samples for modifier in sample["modifiers"]}
        )
        self._channel_nbins = {channel: nbins[channel] for channel in self._channels}
        self._channel_slices: dict[str, slice] = {}
        begin = 0
        for channel, bins in self._channel_nbins.items():
            self._channel_slices[channel] = slice(begin, begin + bins)
            begin += bins

    @property
    def channels(self) -> list[str]:
        return self._channels

    @property
    def samples(self) -> list[str]:
        return self._samples

    @property
    def modifiers(self) -> list[tuple[str, str]]:
        return self._modifiers

    @property
    def channel_nbins(self) -> dict[str, int]:
        return self._channel_nbins

    @property
    def channel_slices(self) -> dict[str, slice]:
        """Among all bins."""
        return self._channel_slices
