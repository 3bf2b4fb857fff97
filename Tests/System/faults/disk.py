"""What a power cut can leave of files, told from a trace of the calls that wrote them.

POSIX at its least: data is there after fsync of its file, a name after fsync of its folder. Of all else any part may be
there, in any order, each sector of 512 bytes for itself. Folders themselves are taken for durable.
"""

import random
import re

SECTOR = 512
CALLS = ("openat", "pwrite64", "write", "ftruncate", "rename", "renameat", "renameat2", "unlink", "unlinkat", "fsync",
         "fdatasync")
TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
PLACE = re.compile(r"(?:AT_FDCWD|\d+)<((?:\\x[0-9a-f]{2})*)>(?:\(deleted\))?")


def plain(escaped):
    return bytes.fromhex(escaped.replace("\\x", ""))


def finished_calls(trace):
    """(call, arguments, result) of each call of a trace by `strace -f -xx`, in the order in which they ended."""
    begun = {}
    for line in trace.read_text().splitlines():
        thread, rest = re.match(r"(\d+) +[\d.]+ (.*)", line).groups()
        if rest.endswith("<unfinished ...>"):
            begun[thread] = rest.removesuffix("<unfinished ...>")
            continue
        if resumed := re.match(r"<\.\.\. \w+ resumed>(.*)", rest):
            rest = begun.pop(thread, "") + resumed[1]
        if found := re.match(r"(\w+)\((.*)\) += (-?\d+)", rest):
            yield found[1], found[2], int(found[3])


class File:
    def __init__(self, data=b""):
        self.durable, self.pending = data, []


class Disk:
    """Files below `folders`, as the calls of a trace change them; `files` {path: bytes} is durable at first."""

    def __init__(self, folders, files):
        self.folders = [f"{folder}/" for folder in folders]
        self.names = {path: File(data) for path, data in files.items()}
        self.durable_names, self.pending_names = dict(self.names), []

    def take(self, call, arguments, result):
        """Follow one call. Returns whether it changed what a power cut would leave."""
        if result < 0 or call not in CALLS:
            return False
        places = [plain(place).decode(errors="replace") for place in PLACE.findall(arguments)]
        texts = [plain(text) for text in TEXT.findall(arguments)]
        if call in ("fsync", "fdatasync"):
            return self.sync(places[0])
        if call in ("pwrite64", "write", "ftruncate"):
            if not (file := places and self.names.get(places[0])):
                return False
            assert call != "write", "a write without its place is not followed"
            number = int(arguments.rsplit(",", 1)[1])
            file.pending.append((number, texts[0][:result] if call == "pwrite64" else None))
            return True
        paths = [path if path.startswith("/") else f"{places[index]}/{path}"
                 for index, path in enumerate(text.decode(errors="replace") for text in texts)]
        if not paths[0].startswith(tuple(self.folders)):
            return False
        if call == "openat":
            assert "O_TRUNC" not in arguments
            if "O_CREAT" not in arguments or paths[0] in self.names:
                return False
            change = {paths[0]: File()}
        elif call.startswith("rename"):
            change = {paths[0]: None, paths[1]: self.names[paths[0]]}
        else:
            change = {paths[0]: None}
        self.pending_names.append(change)
        self.names = renamed(self.names, change)
        return True

    def sync(self, path):
        if file := self.names.get(path):
            file.durable, file.pending = written(file.durable, file.pending), []
            return True
        folder = f"{path}/"
        now = [change for change in self.pending_names if any(is_in(name, folder) for name in change)]
        for change in now:
            self.durable_names = renamed(self.durable_names, change)
            self.pending_names.remove(change)
        return bool(now)

    def leftovers(self, seed, tries):
        """[{path: bytes}]: a bounded choice of what is there after a cut now. `tries` more are drawn by lot."""
        choose = random.Random(seed)
        everything = [(None, change) for change in self.pending_names]
        for file in {id(file): file for file in (self.names | self.durable_names).values()}.values():
            everything += [(file, operation) for operation in file.pending]
        count = len(everything)
        picks = [[1.0] * count, [0.0] * count]
        # One lost, one alone, the last torn, by lot.
        picks += [[float(index != lost) for index in range(count)] for lost in range(count)]
        picks += [[float(index == kept) for index in range(count)] for kept in range(count)]
        picks += [[1.0] * (count - 1) + [0.5]] * bool(count)
        picks += [[choose.random() for _ in range(count)] for _ in range(tries)]
        return [self.leftover(everything, pick, choose) for pick in picks]

    def leftover(self, everything, pick, choose):
        names, kept = self.durable_names, {}
        for (file, operation), share in zip(everything, pick):
            if file is None:
                if choose.random() < share:
                    names = renamed(names, operation)
            else:
                kept.setdefault(id(file), []).extend(torn(operation, share, choose))
        return {name: written(file.durable, kept.get(id(file), [])) for name, file in names.items()}


def is_in(path, folder):
    return path.startswith(folder) and "/" not in path[len(folder):]


def renamed(names, change):
    return {name: file for name, file in (names | change).items() if file is not None}


def written(data, operations):
    data = bytearray(data)
    for place, piece in operations:
        data.extend(bytes(max(0, place - len(data))))
        if piece is None:
            del data[place:]
        else:
            data[place:place + len(piece)] = piece
    return bytes(data)


def torn(operation, share, choose):
    """The sectors of a write that are there, each with the chance `share`; a truncation is there or not."""
    place, piece = operation
    if piece is None or share in (0.0, 1.0):
        return [operation] if choose.random() < share else []
    edges = [place, *range((place // SECTOR + 1) * SECTOR, place + len(piece), SECTOR), place + len(piece)]
    return [(start, piece[start - place:end - place]) for start, end in zip(edges, edges[1:])
            if choose.random() < share]
