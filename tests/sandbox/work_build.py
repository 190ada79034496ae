"""Compilers and build tools under the presets of their languages and `grant write $WORK`."""
import os

from lib import check, equal, main, test, world

C = 'sbx 1\npolicy "t"\nuse std/c\ngrant write $WORK\n'
RUST = 'sbx 1\npolicy "t"\nuse std/rust\ngrant write $WORK\n'
JAVA = 'sbx 1\npolicy "t"\nuse std/java\ngrant write $WORK\n'


def sources(w):
    w.make("work/src/main.c", "#include <stdio.h>\n#include \"sum.h\"\n"
                              "int main(void) { printf(\"%d\\n\", sum(20, 22)); return 0; }\n")
    w.make("work/src/sum.h", "int sum(int a, int b);\n")
    w.make("work/src/sum.c", "#include \"sum.h\"\nint sum(int a, int b) { return a + b; }\n")


@test
def make_builds_in_parallel():
    with world("/var/tmp") as w:
        sources(w)
        w.make("work/Makefile", "CFLAGS = -O2 -g -MMD -Isrc\nsrc/program: src/main.o src/sum.o\n"
                                "\t$(CC) -o $@ $^\ncheck: src/program\n"
                                "\t@test \"$$(./src/program)\" = 42 && echo passed\n"
                                "clean:\n\trm -f src/*.o src/*.d src/program\n-include src/*.d\n")
        policy = w.compile(C)
        result = w.launch(policy, "make", "-j2", "-s", "check").succeeded()
        equal((result.out, result.err), ("passed\n", ""))
        w.make("work/src/sum.h", "int sum(int a, int b); /* changed */\n")
        w.launch(policy, "make", "-j2", "check").succeeded()
        w.launch(policy, "make", "-s", "clean").succeeded()
        equal(sorted(os.listdir(f"{w.work}/src")), ["main.c", "sum.c", "sum.h"])


@test
def cmake_configures_builds_tests_and_installs():
    with world("/var/tmp") as w:
        sources(w)
        w.make("work/CMakeLists.txt", """cmake_minimum_required(VERSION 3.10)
project(sum C)
find_package(Threads REQUIRED)
add_library(sum SHARED src/sum.c)
add_executable(program src/main.c)
target_link_libraries(program sum Threads::Threads)
enable_testing()
add_test(NAME answer COMMAND program)
set_tests_properties(answer PROPERTIES PASS_REGULAR_EXPRESSION "42")
install(TARGETS program sum)
""")
        w.shell(w.compile(C), """set -e
            cmake -S . -B out -DCMAKE_INSTALL_PREFIX="$PWD/installed" -DCMAKE_INSTALL_RPATH="$PWD/installed/lib"
            cmake --build out -j2; cd out; ctest --output-on-failure; cmake --install .""").succeeded()
        equal(w.launch(w.compile(C), f"{w.work}/installed/bin/program").succeeded().out, "42\n")


@test
def gcc_makes_archives_shared_objects_and_debug_information():
    with world("/var/tmp") as w:
        sources(w)
        result = w.shell(w.compile(C), """set -e
            cd src; gcc -c -g -fPIC sum.c; ar rcs libsum.a sum.o; gcc -shared -o libsum.so sum.o
            gcc -pipe -o static main.c -L. -l:libsum.a; gcc -save-temps -o shared main.c -L. -lsum -Wl,-rpath,"$PWD"
            ./static; ./shared; nm -D libsum.so | grep -c ' T sum'; strip shared; ./shared""")
        equal(result.succeeded().out, "42\n42\n1\n42\n")


@test
def sanitizers_find_faults_and_leaks_where_tracing_is_granted():
    with world("/var/tmp") as w:
        w.make("work/fault.c", "#include <stdlib.h>\nint main(int n, char **v) { (void)v; char *p = malloc(8);\n"
                               "if (n > 1) { p[n + 6] = 1; free(p); } p = NULL; return p != NULL; }\n")
        dev = w.compile(C)
        w.launch(dev, "gcc", "-g", "-fsanitize=address,undefined", "-o", "fault", "fault.c").succeeded()
        found = w.launch(dev, "./fault", "one", env=w.environment(ASAN_OPTIONS="detect_leaks=0"))
        check("heap-buffer-overflow" in found.err, found.err)
        found = w.launch(w.compile(C + "grant syscall ptrace\n"), "./fault")
        check("detected memory leaks" in found.err, found.err)


@test
def rust_compiles_and_cargo_builds_and_tests():
    with world("/var/tmp") as w:
        w.make("work/Cargo.toml", '[package]\nname = "sum"\nversion = "0.1.0"\nedition = "2021"\n')
        w.make("work/src/lib.rs", "pub fn sum(a: i32, b: i32) -> i32 { a + b }\n"
                                  "#[test]\nfn adds() { assert_eq!(sum(20, 22), 42); }\n")
        w.make("work/src/main.rs", "fn main() { let t = std::thread::spawn(|| sum::sum(20, 22));\n"
                                   "println!(\"{}\", t.join().unwrap()); }\n")
        w.make("work/build.rs", "fn main() { println!(\"cargo:rerun-if-changed=build.rs\"); }\n")
        policy = w.compile(RUST)
        w.launch(policy, "rustc", "--crate-type", "lib", "-o", "/tmp/libsum.rlib", "src/lib.rs").succeeded()
        result = w.launch(policy, "cargo", "run", "--offline", "--quiet", "-j2").succeeded()
        equal(result.out, "42\n")
        tested = w.launch(policy, "cargo", "test", "--offline", "--quiet", "-j2").succeeded()
        check("test result: ok. 1 passed" in tested.out, tested.out)


@test
def java_is_compiled_packed_and_run():
    with world("/var/tmp") as w:
        w.make("work/Main.java", """
import java.io.*;
import java.nio.file.*;
import java.util.concurrent.*;
public class Main {
    public static void main(String[] words) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        Future<Integer> sum = pool.submit(() -> 20 + 22);
        Path path = Files.createTempFile("sbx", "txt");
        Files.writeString(path, "text");
        Process child = new ProcessBuilder("echo", "child").start();
        String line = new BufferedReader(new InputStreamReader(child.getInputStream())).readLine();
        System.out.println(sum.get() + " " + Files.readString(path) + " " + line);
        pool.shutdown();
    }
}
""")
        result = w.shell(w.compile(JAVA), """set -e
            javac -d classes Main.java; jar cfe main.jar Main -C classes .; java -jar main.jar
            java -XX:+UseParallelGC -Xmx64m -cp classes Main; java Main.java""")
        equal(result.succeeded().out, "42 text child\n" * 3)


main()
