"""Node and npm under `use std/node` and `grant write $WORK`."""
import io
import os
import re
import subprocess
import tarfile

from lib import SECRET, check, equal, main, test, world

POLICY = 'sbx 1\npolicy "t"\nuse std/node\ngrant write $WORK\n'


def package(w):
    """A tarball as `npm pack` makes it."""
    files = {"package/package.json": '{"name": "answer", "version": "1.0.0", "main": "main.js", "bin": "main.js"}',
             "package/main.js": "#!/usr/bin/env node\nmodule.exports = 42;\n"
                               "if (require.main === module) console.log(42);\n"}
    with tarfile.open(w.make("work/answer-1.0.0.tgz"), "w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text), 0o755
            archive.addfile(entry, io.BytesIO(text.encode()))
    return "./answer-1.0.0.tgz"


@test
def worker_threads_child_processes_and_a_server_work():
    with world("/var/tmp") as w:
        w.make("work/parts.js", r'''
const { Worker, isMainThread, parentPort, workerData } = require("worker_threads");
const { execFileSync, fork } = require("child_process");
const http = require("http");
if (!isMainThread) {
    parentPort.postMessage(workerData * workerData);
} else if (process.argv[2] === "child") {
    process.send("child");
} else {
    const squares = [1, 2, 3, 4].map((number) => new Promise((resolve, reject) =>
        new Worker(__filename, { workerData: number }).on("message", resolve).on("error", reject)));
    const child = new Promise((resolve) => fork(__filename, ["child"]).on("message", resolve));
    const page = new Promise((resolve) => {
        const server = http.createServer((request, response) => response.end("page"));
        server.listen(0, "127.0.0.1", () => http.get({ port: server.address().port, host: "127.0.0.1" }, (response) =>
            response.on("data", (data) => { resolve(String(data)); server.close(); response.socket.destroy(); })));
    });
    Promise.all([...squares, child, page]).then((all) =>
        console.log(all.join(" "), String(execFileSync("echo", ["shell"])).trim()));
}
''')
        result = w.launch(w.compile(POLICY), "/usr/bin/node", "parts.js").succeeded()
        equal(result.out, "1 4 9 16 child page shell\n")


@test
def npm_installs_a_tarball_and_runs_scripts():
    with world("/var/tmp") as w:
        w.make("home/.npm/")
        w.make("home/.npmrc", f"//registry.npmjs.org/:_authToken={SECRET}\n")
        w.make("work/package.json",
               '{"name": "project", "version": "1.0.0", "scripts": {"test": "node test.js && answer"}}')
        w.make("work/test.js", "console.log(require('answer') === 42);\n")
        policy = w.compile(POLICY)
        w.launch(policy, "npm", "install", "--offline", "--no-audit", "--no-fund", package(w)).succeeded()
        check(os.path.exists(f"{w.work}/node_modules/answer/main.js"), "the package is not installed")
        equal(w.launch(policy, "npm", "test", "--silent").succeeded().out, "true\n42\n")
        w.launch(policy, "npm", "ci", "--offline", "--no-audit", "--no-fund").succeeded()
        equal(w.launch(policy, "npx", "--offline", "answer").succeeded().out, "42\n")
        check(os.listdir(f"{w.home}/.npm"), "npm did not use its cache")
        equal(sorted(os.listdir(w.work)),
              ["answer-1.0.0.tgz", "node_modules", "package-lock.json", "package.json", "test.js"])


@test
def on_a_fresh_account_npm_works_after_the_line_that_is_printed():
    with world("/var/tmp") as w:
        w.make("work/package.json", '{"name": "project", "version": "1.0.0"}')
        policy = w.compile(POLICY)
        install = ["npm", "install", "--offline", "--no-audit", "--no-fund", package(w)]
        result = w.launch(policy, *install)
        check(result.code != 0, "npm did without a cache")
        check("warning[SBX433]" in result.err, result.err)
        equal(os.listdir(w.home), [".local"], "the home, with the launcher's own state")
        line = re.search(r"mkdir -p /.*", result.err).group()
        subprocess.run(["sh", "-c", line], check=True)
        equal(sorted(os.listdir(w.home)), [".local", ".npm"], "what the line makes")
        result = w.launch(policy, *install).succeeded()
        check("SBX433" not in result.err, result.err)
        check(os.path.exists(f"{w.work}/node_modules/answer/main.js"), "the package is not installed")


@test
def only_the_cache_of_the_command_itself_is_named():
    with world("/var/tmp") as w:
        policy = w.compile(POLICY)
        moved = w.environment(npm_config_cache=w.make("outside/cache/"))
        for command, more in (
            (["node", "-e", ""], {}),
            (["true"], {}),
            (["npm", "--version"], {"env": moved}),
            (["npm", "--version"], {"options": ["-q"]}),
        ):
            check("SBX433" not in w.launch(policy, *command, **more).succeeded().err, command)
        opened = w.compile(POLICY + "grant write ~\n")
        check("SBX433" not in w.launch(opened, "npm", "--version").succeeded().err, "the home is open")


@test
def npm_follows_a_cache_that_was_moved():
    with world("/var/tmp") as w:
        w.make("work/package.json", '{"name": "project", "version": "1.0.0"}')
        moved = w.make("outside/cache/")
        policy = w.compile(POLICY)
        environment = w.environment(npm_config_cache=moved)
        install = ["npm", "install", "--offline", "--no-audit", "--no-fund", package(w)]
        w.launch(policy, *install, env=environment).succeeded()
        check(os.path.isdir(f"{moved}/_cacache"), f"the cache holds {os.listdir(moved)}")


@test
def files_of_settings_are_as_outside_and_cannot_be_changed():
    # yarn reads all three at its start and fails on a directory.
    read = """
        for (const name of [".npmrc", ".yarnrc", ".yarnrc.yml"]) {
            try { console.log(fs.readFileSync(name, "utf8").trim()); } catch (error) { console.log(error.code); }
            try { fs.appendFileSync(name, "planted"); } catch (error) { console.log(error.code); }
        }"""
    with world("/var/tmp") as w:
        for name in (".npmrc", ".yarnrc", ".yarnrc.yml"):
            w.make(f"work/{name}", "own\n")
        policy = w.compile(POLICY)
        equal(w.launch(policy, "node", "-e", read).succeeded().out.split(), ["own", "EROFS"] * 3)
        for name in (".npmrc", ".yarnrc", ".yarnrc.yml"):
            os.unlink(f"{w.work}/{name}")
        equal(w.launch(policy, "node", "-e", read).succeeded().out.split(), ["ENOENT"] * 3)


main()
