"""Writes MCAP (https://mcap.dev/spec): chunks, each complete when it is written, and a summary at the end."""

import struct
import zlib

from ._messages import file_descriptor_set

_MAGIC = b"\x89MCAP0\r\n"
_HEADER, _FOOTER, _SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _MESSAGE_INDEX, _CHUNK_INDEX = range(1, 9)
_STATISTICS, _DATA_END = 0x0B, 0x0F

# Schema and channel ids.
RUN, FRAME = 1, 2
_TOPICS = {RUN: "/causeway/run", FRAME: "/causeway/frame"}
_NAMES = {RUN: "causeway.v1.Run", FRAME: "causeway.v1.Frame"}


def start_of_file():
    """Returns the magic bytes, the header, the schemas and the channels."""
    return _MAGIC + _record(_HEADER, _text("") + _text("causeway-recorder")) + _channels()


def message(channel, sequence, time_ns, data):
    """Returns a message record."""
    head = struct.pack("<HI2Q", channel, sequence & 0xFFFFFFFF, time_ns, time_ns)
    return _record(_MESSAGE, head + data)


class ChunkIndexer:
    """Makes chunks and remembers where they are, for the summary."""

    def __init__(self, offset):
        self._offset = offset
        self._chunks = []
        self._counts = {RUN: 0, FRAME: 0}

    def chunk(self, messages):
        """Returns the records of a chunk of messages (channel, time in ns, record)."""
        records = b"".join(record for _, _, record in messages)
        times = [time for _, time, _ in messages]
        sizes = struct.pack("<3QI", min(times), max(times), len(records), zlib.crc32(records))
        chunk = _record(_CHUNK, sizes + _text("") + struct.pack("<Q", len(records)) + records)
        indexes, offsets = self._message_indexes(messages, self._offset + len(chunk))
        self._chunks.append((min(times), max(times), self._offset, len(chunk), offsets, len(indexes), len(records)))
        self._offset += len(chunk) + len(indexes)
        return chunk + indexes

    def end_of_file(self):
        """Returns the records after the last chunk."""
        data_end = _record(_DATA_END, struct.pack("<I", 0))
        summary = _channels() + self._statistics() + b"".join(map(_chunk_index, self._chunks))
        footer = struct.pack("<QQI", self._offset + len(data_end), 0, 0)
        return data_end + summary + _record(_FOOTER, footer) + _MAGIC

    def _message_indexes(self, messages, offset):
        entries = {}
        at = 0
        for channel, time, record in messages:
            entries.setdefault(channel, []).append(struct.pack("<QQ", time, at))
            self._counts[channel] += 1
            at += len(record)
        records, offsets = b"", {}
        for channel, rows in entries.items():
            offsets[channel] = offset + len(records)
            table = b"".join(rows)
            records += _record(_MESSAGE_INDEX, struct.pack("<HI", channel, len(table)) + table)
        return records, offsets

    def _statistics(self):
        start = min((chunk[0] for chunk in self._chunks), default=0)
        end = max((chunk[1] for chunk in self._chunks), default=0)
        total = sum(self._counts.values())
        head = struct.pack("<QH4I2Q", total, 2, 2, 0, 0, len(self._chunks), start, end)
        return _record(_STATISTICS, head + _integer_map(self._counts))


def _chunk_index(chunk):
    start, end, offset, length, offsets, index_length, size = chunk
    head = struct.pack("<4Q", start, end, offset, length) + _integer_map(offsets)
    return _record(_CHUNK_INDEX, head + struct.pack("<Q", index_length) + _text("") + struct.pack("<QQ", size, size))


def _channels():
    descriptor = file_descriptor_set()
    records = b""
    for channel, topic in _TOPICS.items():
        schema = struct.pack("<H", channel) + _text(_NAMES[channel]) + _text("protobuf")
        records += _record(_SCHEMA, schema + struct.pack("<I", len(descriptor)) + descriptor)
        head = struct.pack("<HH", channel, channel) + _text(topic) + _text("protobuf")
        records += _record(_CHANNEL, head + struct.pack("<I", 0))
    return records


def _record(opcode, content):
    return struct.pack("<BQ", opcode, len(content)) + content


def _text(text):
    data = text.encode()
    return struct.pack("<I", len(data)) + data


def _integer_map(values):
    data = b"".join(struct.pack("<HQ", key, value) for key, value in values.items())
    return struct.pack("<I", len(data)) + data
