"""Python under `use std/python` and `grant write $WORK`: environments, packages and processes."""
import os
import zipfile

from lib import equal, main, test, world

POLICY = 'sbx 1\npolicy "t"\nuse std/python\ngrant write $WORK\n'


def wheel(w):
    """A package without dependencies, ready to be installed."""
    path = w.make("work/answer-1.0-py3-none-any.whl")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("answer/__init__.py", "def main():\n    print(42)\n")
        archive.writestr("answer-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: answer\nVersion: 1.0\n")
        archive.writestr("answer-1.0.dist-info/WHEEL",
                         "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("answer-1.0.dist-info/entry_points.txt", "[console_scripts]\nanswer = answer:main\n")
        archive.writestr("answer-1.0.dist-info/RECORD", "")
    return os.path.basename(path)


@test
def an_environment_is_made_and_a_package_installed_in_it():
    with world("/var/tmp") as w:
        name = wheel(w)
        result = w.shell(w.compile(POLICY), f"""set -e
            /usr/bin/python3 -m venv .venv; . .venv/bin/activate
            pip --quiet --disable-pip-version-check install --no-index ./{name}; answer
            python -c 'import answer, sys; print(sys.prefix == sys.base_prefix)'; pip uninstall -qy answer""")
        equal(result.succeeded().out, "42\nFalse\n")


@test
def the_cache_of_pip_is_written_by_pip_and_by_nothing_else():
    with world("/var/tmp") as w:
        cache = w.make("home/.cache/pip/")
        policy = w.compile(POLICY)
        w.launch(policy, "python3", "-c", f"open('{cache}/made', 'w')").succeeded()
        equal(w.shell(policy, f"echo x > {cache}/planted").code != 0, True, "a shell wrote the cache")
        equal(os.listdir(cache), ["made"])


@test
def pools_managers_and_all_start_methods_work():
    with world("/var/tmp") as w:
        w.make("work/parts.py", r'''
import multiprocessing
import concurrent.futures
from multiprocessing import shared_memory

def square(number):
    return number * number

def fill(shared, lock, name):
    with lock:
        shared["sum"] = shared.get("sum", 0) + 21
    block = shared_memory.SharedMemory(name=name)
    block.buf[0] = 7
    block.close()

def run():
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        with context.Pool(2) as pool:
            assert pool.map(square, range(6)) == [0, 1, 4, 9, 16, 25], method
        block = shared_memory.SharedMemory(create=True, size=16)
        with context.Manager() as manager:
            shared, lock = manager.dict(), manager.Lock()
            workers = [context.Process(target=fill, args=(shared, lock, block.name)) for _ in range(2)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            assert shared["sum"] == 42 and block.buf[0] == 7, method
        block.close()
        block.unlink()
        queue = context.SimpleQueue()
        context.Process(target=queue.put, args=(method,)).start()
        assert queue.get() == method
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        assert sum(pool.map(square, range(4))) == 14
    print("done")

if __name__ == "__main__":
    run()
''')
        equal(w.launch(w.compile(POLICY), "/usr/bin/python3", "parts.py").succeeded().out, "done\n")


@test
def databases_temporary_files_and_servers_of_its_own_work():
    with world("/var/tmp") as w:
        result = w.python(w.compile(POLICY), r'''
import asyncio, http.server, mmap, os, socket, sqlite3, subprocess, tempfile, threading, urllib.request
with sqlite3.connect("data.db") as data:
    data.execute("pragma journal_mode=wal")
    data.execute("create table t (n)")
    data.executemany("insert into t values (?)", [(n,) for n in range(9)])
    assert data.execute("select sum(n) from t").fetchone() == (36,)
with tempfile.TemporaryDirectory() as directory, open(directory + "/f", "w+b") as file:
    file.truncate(4096)
    with mmap.mmap(file.fileno(), 4096) as memory:
        memory[:4] = b"text"
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = "http://127.0.0.1:%d/" % server.server_port
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
assert b"data.db" in opener.open(url).read()
async def child():
    process = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
    return (await process.communicate(b"text"))[0]
assert asyncio.run(child()) == b"text"
print("done")
''')
        equal(result.succeeded().out, "done\n")


main()
