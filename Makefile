# sbx: make, make check, make install DESTDIR= PREFIX=/usr/local, make deps, make deps-check (for make check),
# make deps-bench (for the comparisons of make bench).
# SANITIZE=1 builds with ASan and UBSan.
VERSION  := 0.1.0
PREFIX   ?= /usr/local
CC       ?= cc
SANITIZE ?=
ifeq ($(SANITIZE),1)
BUILD    ?= build/sanitize
OPTIMISE := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
LINK     := -fsanitize=address,undefined
else
BUILD    ?= build
OPTIMISE := -O2 -g -D_FORTIFY_SOURCE=2 -fstack-protector-strong
LINK     := -static -Wl,-z,relro,-z,now
endif
CFLAGS   ?=
ARCHIVE  := ar rcsD
LIBSBX   := $(BUILD)/libsbx.a $(BUILD)/libsbx.so
# What reads specifications of Windows needs libxml2. Static programs get it without what a document in memory never needs.
XML_CFLAGS := $(shell pkg-config --cflags libxml-2.0 2>/dev/null)
XML_LIBS   := -lxml2 -lm
XML_STATIC := $(shell $(CC) -print-file-name=libxml2.a 2>/dev/null)
XML_CUT    := $(if $(filter -static,$(LINK)),$(BUILD)/emitters/xml_cut.o)
# macOS (gmake): its own runtime, libraries from Homebrew, nothing static.
ifeq ($(shell uname -s),Darwin)
SBX_MACOS := 1
PACKAGES  := libsodium jansson libutf8proc libxml-2.0
XML_CUT   :=
LINK      := $(filter -fsanitize%,$(LINK)) $(shell pkg-config --libs-only-L $(PACKAGES))
CFLAGS    += $(shell pkg-config --cflags-only-I $(PACKAGES))
ARCHIVE   := ar rcs
LIBSBX    := $(BUILD)/libsbx.a $(BUILD)/libsbx.dylib
endif
WARNINGS := -Wall -Wextra -Werror -Wshadow -Wswitch-enum -Wmissing-prototypes -Wstrict-prototypes -Wconversion
SBX_CFLAGS = -std=c17 -D_GNU_SOURCE -DSBX_VERSION='"$(VERSION)"' $(OPTIMISE) $(WARNINGS) -I. -I$(BUILD) -MMD -MP $(XML_CFLAGS) $(CFLAGS)

objects   = $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(1)))
BASE      := $(call objects,base/*.c)
GRAMMAR   := $(call objects,grammar/*.c) $(BUILD)/grammar/sbx.tab.o $(BUILD)/grammar/sbx.lex.o
POLICY    := $(call objects,policy/*.c)
EMITTERS  := $(call objects,emitters/*.c) $(BUILD)/emitters/bwrap_sh_parts.o $(BUILD)/emitters/windows_schema.o
COMPILER  := $(filter-out %/main.o,$(call objects,compiler/*.c compiler/commands/*.c)) $(BUILD)/compiler/presets.o
# The launcher of macOS: files of its own, and those of the runtime that need nothing but POSIX.
MACOS_RUNTIME := main launch_steps options report lease lease_text managed managed_list expectations prepare owner own_files resolver \
                 follow matches denials gather state gather_walk findings pattern_place patience landlock_scratch streams_reserve probe_print helper
ifdef SBX_MACOS
RUNTIME   := $(call objects,runtime/macos_*.c) $(patsubst %,$(BUILD)/runtime/%.o,$(filter-out main,$(MACOS_RUNTIME)))
else
RUNTIME   := $(filter-out %/main.o $(BUILD)/runtime/macos_%,$(call objects,runtime/*.c))
endif
# What the launcher of Windows has that needs no Windows; unit tests ask it on any system.
PORTABLE_WINDOWS := $(call objects,runtime/windows/apply*.c) $(patsubst %,$(BUILD)/runtime/windows/%.o,acl acl_memory canary claims \
                    descriptor_edit identity_entry journal journal_recover journal_record owner quote resolve resolve_bind revert spread token_groups \
                    variables verify_refuse walk)
LIBRARIES := $(foreach name,base grammar policy emitters compiler runtime,$(BUILD)/lib$(name).a)
# Later archives serve earlier ones, so users come first.
ARCHIVES  := $(foreach name,runtime compiler emitters grammar policy base,$(BUILD)/lib$(name).a)
UNIT      := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(wildcard tests/unit/*_test.c))

.SECONDARY:
.PHONY: all bench check portable check-bubblewraps escape fuzz unit unit-programs demo deps deps-bench deps-check install clean check-fresh
all: $(BUILD)/sbxc $(BUILD)/sbx-launch $(LIBSBX)

$(BUILD)/libbase.a: $(BASE)
$(BUILD)/libgrammar.a: $(GRAMMAR)
$(BUILD)/libpolicy.a: $(POLICY)
$(BUILD)/libemitters.a: $(EMITTERS)
$(BUILD)/libcompiler.a: $(COMPILER)
$(BUILD)/libruntime.a: $(RUNTIME)
$(BUILD)/libwindows.a: $(PORTABLE_WINDOWS)
# Of the objects that stand here, also where one of them is gone.
$(BUILD)/%.a: Makefile
	@mkdir -p $(@D) && rm -f $@
	@$(ARCHIVE) $@ $(filter %.o,$^)

$(BUILD)/sbxc: $(BUILD)/compiler/main.o $(XML_CUT) $(filter-out %/libruntime.a,$(ARCHIVES))
	@echo link $@
	@$(CC) $(LINK) -o $@ $^ $(XML_LIBS) -ljansson -lsodium -lutf8proc -pthread
$(BUILD)/sbx-launch: $(BUILD)/runtime/main.o $(filter-out %/libcompiler.a %/libgrammar.a,$(ARCHIVES))
	@echo link $@
	@$(CC) $(LINK) -o $@ $^ -ljansson -lsodium -lutf8proc -pthread

# For tests/escape alone and never installed: a launcher whose protective measures can be dropped (base/measure.h).
# What asks for no measure comes from the archives. The other program makes the attempts.
ESCAPE    := $(BUILD)/sbx-launch-test-only $(BUILD)/escape-attempt
MEASURED  := $(shell grep -lE 'measure_(holds|refuses)|MEASURE_|INNER_STAGE_WORD' emitters/*.c runtime/*.c)
TEST_ONLY := $(patsubst %.c,$(BUILD)/test-only/%.o,$(MEASURED) $(wildcard tests/escape/launcher/*.c))
$(BUILD)/test-only/%.o: %.c
	@mkdir -p $(@D)
	@echo cc -DSBX_TEST_ONLY $<
	@$(CC) $(SBX_CFLAGS) -DSBX_TEST_ONLY -c -o $@ $<
$(BUILD)/test-only/runtime/main.o: runtime/main.c
	@mkdir -p $(@D)
	@$(CC) $(SBX_CFLAGS) -DSBX_TEST_ONLY -c -o $@ $<
	@objcopy --redefine-sym main=launcher_main $@
$(BUILD)/sbx-launch-test-only: $(TEST_ONLY) $(filter-out %/libcompiler.a %/libgrammar.a,$(ARCHIVES))
	@echo link $@
	@$(CC) $(LINK) -o $@ $^ -ljansson -lsodium -lutf8proc -pthread
# An attempt looks at no result: what it achieves is seen from outside.
$(BUILD)/tests/escape/%.o: WARNINGS += -Wno-unused-result
$(BUILD)/escape-attempt: $(call objects,tests/escape/*.c)
	@echo link $@
	@$(CC) -static -o $@ $^
escape: all $(ESCAPE)

MACOS_SOURCES := $(wildcard base/*.c policy/*.c emitters/*.c runtime/macos_*.c) $(MACOS_RUNTIME:%=runtime/%.c)
# For tests on Linux and never installed: the same sources, compiled as for macOS (tests/macos/darwin.h), with a
# stand-in for sandbox-exec that answers what a profile allows and enforces nothing.
MACOS_TEST    := $(BUILD)/sbx-launch-macos-test $(BUILD)/macos-stand-in
MACOS_OBJECTS := $(patsubst %.c,$(BUILD)/macos/%.o,$(filter-out runtime/macos_path.c,$(MACOS_SOURCES)) tests/macos/on_linux.c) \
                 $(BUILD)/macos/emitters/bwrap_sh_parts.o $(BUILD)/macos/emitters/windows_schema.o
DARWIN        := -U__linux__ -D__APPLE__ -U_GNU_SOURCE -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE -include tests/macos/darwin.h
$(BUILD)/macos/%.o: %.c
	@mkdir -p $(@D)
	@echo cc for macOS $<
	@$(CC) $(SBX_CFLAGS) $(DARWIN) -O1 -c -o $@ $<
$(BUILD)/macos/%.o: $(BUILD)/%.c
	@mkdir -p $(@D)
	@$(CC) $(SBX_CFLAGS) $(DARWIN) -O1 -Wno-conversion -Wno-sign-conversion -Wno-switch-enum -Wno-unused-function -Wno-unused-but-set-variable -c -o $@ $<
$(BUILD)/macos/runtime/main.o: runtime/main.c
	@mkdir -p $(@D)
	@$(CC) $(SBX_CFLAGS) $(DARWIN) -O1 -c -o $@ $<
	@objcopy --redefine-sym main=launcher_main $@
$(BUILD)/sbx-launch-macos-test: $(MACOS_OBJECTS)
	@echo link $@
	@$(CC) $(filter -fsanitize%,$(LINK)) -o $@ $^ $(XML_LIBS) -ljansson -lsodium -lutf8proc -pthread
$(BUILD)/macos-stand-in: $(BUILD)/tests/macos/stand_in.o $(filter-out %/libcompiler.a %/libgrammar.a %/libruntime.a,$(ARCHIVES))
	@echo link $@
	@$(CC) $(LINK) -o $@ $^ -ljansson -lsodium -lutf8proc -pthread
# Everything that macOS builds, as far as Linux can tell: it compiles with what POSIX and BSD have.
PORTABLE      := $(patsubst %.c,$(BUILD)/macos/%.o,$(wildcard grammar/*.c compiler/*.c compiler/commands/*.c) runtime/macos_path.c) \
                 $(BUILD)/macos/grammar/sbx.tab.o $(BUILD)/macos/grammar/sbx.lex.o $(BUILD)/macos/compiler/presets.o
$(PORTABLE): | $(BUILD)/grammar/sbx.tab.h $(BUILD)/grammar/sbx.lex.h
portable: $(MACOS_TEST) $(PORTABLE)
	tests/macos/portable.sh $(BUILD)/macos $(MACOS_SOURCES) $(wildcard grammar/*.[chly] compiler/*.[ch] compiler/commands/*.[ch])

# The programs for Windows, cross-built (docs/windows.md). The one for tests goes on where enforcement cannot be verified,
# and says so; it is never installed.
WIN            := $(BUILD)/windows
WIN_CC         ?= x86_64-w64-mingw32-gcc-posix
WIN_LIBRARIES  := $(WIN)/libraries
WIN_CFLAGS      = -std=c17 -D_GNU_SOURCE -DSBX_VERSION='"$(VERSION)"' -D_WIN32_WINNT=0x0A00 -DUNICODE -D_UNICODE -DWIN32_LEAN_AND_MEAN \
                  -DLIBXML_STATIC -DUTF8PROC_STATIC -O2 -g -D_FORTIFY_SOURCE=2 -fstack-protector-strong $(WARNINGS) -I. -I$(WIN) -I$(BUILD) \
                  -Ibase/windows/posix -isystem $(WIN_LIBRARIES)/include -isystem $(WIN_LIBRARIES)/include/libxml2 -MMD -MP
WIN_LINK       := -static -s -fstack-protector-strong -Wl,--dynamicbase,--nxcompat,--high-entropy-va,--no-insert-timestamp
WIN_LIBS       := -L$(WIN_LIBRARIES)/lib -lxml2 -lutf8proc -ljansson -ladvapi32 -lws2_32 -lshell32 -lole32 -luuid -lpthread
# Of libraries that lie beside a program Windows takes all but those that it knows by name (WIN_LIBS). The others are loaded
# when they are first asked for, after main has said where from.
WIN_DELAYED    := $(patsubst %,$(WIN)/delayed_%.a,bcrypt userenv)
# What is the same on every system, with files of Windows' own where POSIX has something else.
WIN_OTHER      := base/pages.c base/sha256.c base/write.c policy/sbx.c policy/host.c \
                  $(patsubst %,policy/host_%.c,account command file follow look)
WIN_SHARED     := $(filter-out $(WIN_OTHER),$(wildcard base/*.c policy/*.c)) \
                  $(wildcard base/windows/*.c) $(wildcard emitters/windows*.c emitters/control*.c) emitters/bwrap_text.c emitters/seatbelt_network.c emitters/seatbelt_write.c \
                  emitters/json.c emitters/json_parts.c emitters/windows_schema.c
WIN_MAINS      := main selftest
WIN_PROGRAMS   := $(if $(wildcard runtime/windows/main.c),$(WIN)/sbx-launch.exe $(WIN)/sbx-launch-test.exe) \
                  $(if $(wildcard runtime/windows/selftest.c),$(WIN)/sbx-selftest.exe)
WIN_RUNTIME    := $(filter-out $(WIN_MAINS:%=runtime/windows/%.c),$(wildcard runtime/windows/*.c)) \
                  $(patsubst %,runtime/%.c,expectations lease_text managed_list options probe_print report)
.PHONY: windows check-windows
windows: $(WIN)/libsbx.a $(WIN)/libruntime.a $(WIN)/libruntime-test.a $(WIN_PROGRAMS)
$(WIN_LIBRARIES)/built: windows/build_libraries.sh
	windows/build_libraries.sh $(@D)
	@touch $@
$(WIN)/%.o: %.c | $(WIN_LIBRARIES)/built
	@mkdir -p $(@D)
	@echo cc for Windows $<
	@$(WIN_CC) $(WIN_CFLAGS) -c -o $@ $<
$(WIN)/%.o: $(BUILD)/%.c | $(WIN_LIBRARIES)/built
	@mkdir -p $(@D)
	@echo cc for Windows $<
	@$(WIN_CC) $(WIN_CFLAGS) -c -o $@ $<
$(WIN)/test/%.o: %.c | $(WIN_LIBRARIES)/built
	@mkdir -p $(@D)
	@echo cc for Windows -DSBX_TEST_UNENFORCED $<
	@$(WIN_CC) $(WIN_CFLAGS) -DSBX_TEST_UNENFORCED -c -o $@ $<
$(WIN)/libsbx.a: $(WIN_SHARED:%.c=$(WIN)/%.o)
$(WIN)/libruntime.a: $(WIN_RUNTIME:%.c=$(WIN)/%.o)
$(WIN)/libruntime-test.a: $(WIN_RUNTIME:%.c=$(WIN)/test/%.o)
$(WIN)/sbx-launch.exe: $(WIN)/runtime/windows/main.o $(WIN)/libruntime.a $(WIN)/libsbx.a
$(WIN)/sbx-launch-test.exe: $(WIN)/test/runtime/windows/main.o $(WIN)/libruntime-test.a $(WIN)/libsbx.a
$(WIN)/sbx-selftest.exe: $(WIN)/runtime/windows/selftest.o $(WIN)/libruntime.a $(WIN)/libsbx.a
$(WIN)/oracle.exe: $(WIN)/tests/windows/oracle.o $(WIN)/libsbx.a
$(WIN)/machine-tool.exe: $(WIN)/tests/windows/machine_tool.o $(WIN)/libruntime.a $(WIN)/libsbx.a
# One measure at a time, as the launcher has it and as its build for tests does; and a launcher that does not know Wine's name.
WIN_ENFORCE := $(patsubst %,$(WIN)/%.exe,enforce-tool enforce-tool-test sbx-launch-any-name sbx-selftest-test)
check-windows: $(WIN_ENFORCE)
$(WIN)/enforce-tool.exe: $(WIN)/tests/windows/enforce_tool.o $(WIN)/libruntime.a $(WIN)/libsbx.a
$(WIN)/enforce-tool-test.exe: $(WIN)/tests/windows/enforce_tool.o $(WIN)/libruntime-test.a $(WIN)/libsbx.a
$(WIN)/sbx-launch-any-name.exe: $(WIN)/runtime/windows/main.o $(WIN)/any-name/verify.o $(WIN)/libruntime.a $(WIN)/libsbx.a
$(WIN)/sbx-selftest-test.exe: $(WIN)/any-name/selftest.o $(WIN)/libruntime-test.a $(WIN)/libsbx.a
$(WIN)/any-name/%.o: runtime/windows/%.c | $(WIN_LIBRARIES)/built
	@mkdir -p $(@D)
	@echo cc for Windows -DSBX_TEST_ANY_NAME $<
	@$(WIN_CC) $(WIN_CFLAGS) -DSBX_TEST_ANY_NAME -c -o $@ $<
# A journal that can be killed at any step, and what it does to a tree.
check-windows: $(WIN)/journal-tool.exe
$(WIN)/journal-tool.exe: $(WIN)/tests/windows/journal_tool.o $(WIN)/libruntime-test.a $(WIN)/libsbx.a
$(WIN)/%.exe: $(WIN_DELAYED)
	@echo link $@
	@$(WIN_CC) $(WIN_LINK) -o $@ $(filter-out $(WIN_DELAYED),$^) $(WIN_DELAYED) $(WIN_LIBS)
$(WIN)/delayed_%.a: windows/delayed_%.def
	@mkdir -p $(@D)
	@echo archive $@
	@$(WIN_CC:gcc-posix=dlltool) --input-def $< --output-delaylib $@

# What of it can be seen under Wine. The tests start subject.exe, oracle.exe asks Wine, machine-tool.exe says what is found.
check-windows: windows $(WIN)/subject.exe $(WIN)/oracle.exe $(WIN)/machine-tool.exe $(BUILD)/sbxc
	@/usr/bin/python3 tests/windows/run.py $(BUILD)
$(WIN)/subject.exe: tests/windows/subject.c | $(WIN_LIBRARIES)/built
	@echo link $@
	@$(WIN_CC) $(WIN_CFLAGS) -municode $(WIN_LINK) -o $@ $<

# libsbx, to link with or to load: position-independent, and nothing but the functions of sbx.h can be seen.
SBX_MAJOR := $(firstword $(subst ., ,$(VERSION)))
SBX_PARTS := $(patsubst %.c,$(BUILD)/shared/%.o,$(wildcard base/*.c policy/*.c))
$(BUILD)/shared/%.o: %.c
	@mkdir -p $(@D)
	@echo cc -fPIC $<
	@$(CC) $(SBX_CFLAGS) -fPIC -fvisibility=hidden -c -o $@ $<
$(BUILD)/shared/sbx.o: $(SBX_PARTS)
	@$(LD) -r -o $@.all $^
	@objcopy --wildcard --keep-global-symbol='sbx_*' $@.all $@ && rm -f $@.all
ifdef SBX_MACOS
$(BUILD)/libsbx.a: $(SBX_PARTS)
$(BUILD)/libsbx.dylib: $(SBX_PARTS)
	@$(CC) -dynamiclib $(LINK) -o $@ $^ -lsodium -lutf8proc -pthread
else
$(BUILD)/libsbx.a: $(BUILD)/shared/sbx.o
endif
$(BUILD)/libsbx.so.$(SBX_MAJOR): $(SBX_PARTS) policy/sbx.map
	@echo link $@
	@$(CC) -shared $(filter-out -static,$(LINK)) -Wl,-soname,$(@F) -Wl,--version-script=policy/sbx.map -o $@ $(SBX_PARTS) -lsodium -lutf8proc -pthread
$(BUILD)/libsbx.so: $(BUILD)/libsbx.so.$(SBX_MAJOR)
	@ln -sf $(<F) $@

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	@echo cc $<
	@$(CC) $(SBX_CFLAGS) -c -o $@ $<
$(BUILD)/%.o: $(BUILD)/%.c
	@echo cc $<
	@$(CC) $(SBX_CFLAGS) -Wno-conversion -Wno-sign-conversion -Wno-switch-enum -Wno-unused-function -Wno-unused-but-set-variable -c -o $@ $<

$(BUILD)/grammar/sbx.tab.c $(BUILD)/grammar/sbx.tab.h &: grammar/sbx.y
	@mkdir -p $(@D)
	bison -Werror --no-lines --defines=$(BUILD)/grammar/sbx.tab.h -o $(BUILD)/grammar/sbx.tab.c $<
$(BUILD)/grammar/sbx.lex.c $(BUILD)/grammar/sbx.lex.h &: grammar/sbx.l
	@mkdir -p $(@D)
	flex --noline --header-file=$(BUILD)/grammar/sbx.lex.h -o $(BUILD)/grammar/sbx.lex.c $<
$(GRAMMAR): | $(BUILD)/grammar/sbx.tab.h $(BUILD)/grammar/sbx.lex.h
$(BUILD)/compiler/presets.c: compiler/embed.sh $(wildcard compiler/std/*.sbx)
	@mkdir -p $(@D)
	sh compiler/embed.sh compiler/std > $@
$(BUILD)/emitters/bwrap_sh_parts.c: $(wildcard emitters/bwrap_sh/*.sh)
	@mkdir -p $(@D)
	sh emitters/bwrap_sh/embed.sh emitters/bwrap_sh > $@
$(BUILD)/emitters/windows_schema.c: schema/embed.sh schema/sbx-windows.xsd
	@mkdir -p $(@D)
	sh schema/embed.sh schema/sbx-windows.xsd > $@
$(BUILD)/emitters/xml_cut.c: emitters/xml_cut.sh $(wildcard $(XML_STATIC))
	@mkdir -p $(@D)
	sh emitters/xml_cut.sh $(XML_STATIC) > $@

# One program a test file; make unit-NAME builds and runs tests/unit/NAME_test.c alone.
$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(BUILD)/libwindows.a $(ARCHIVES)
	@echo link $@
	@$(CC) $(filter -fsanitize%,$(LINK)) -o $@ $^ -lcmocka $(XML_LIBS) -ljansson -lsodium -lseccomp -lutf8proc -pthread
unit-%: $(BUILD)/tests/unit/%_test
	$<
unit: $(UNIT)
	@for test in $(UNIT); do $$test || exit 1; done

# The targets of make fuzz, to be given each known input once.
REPLAY := $(patsubst tests/fuzz/%_fuzz.c,$(BUILD)/tests/fuzz/%_replay,$(wildcard tests/fuzz/*_fuzz.c))
$(BUILD)/tests/fuzz/%_replay: $(BUILD)/tests/fuzz/%_fuzz.o $(BUILD)/tests/fuzz/replay.o $(ARCHIVES)
	@echo link $@
	@$(CC) $(filter -fsanitize%,$(LINK)) -o $@ $^ $(XML_LIBS) -ljansson -lsodium -lutf8proc -pthread

# What tests/cases/run.py asks Seatbelt profiles with.
ASK := $(BUILD)/tests/cases/ask
$(ASK): $(BUILD)/tests/cases/ask.o $(ARCHIVES)
	@echo link $@
	@$(CC) $(filter -fsanitize%,$(LINK)) -o $@ $^ $(XML_LIBS) -ljansson -lsodium -lutf8proc -pthread

# The optimised build runs everything in full; the sanitized one runs a tenth of the random questions.
ifeq ($(SANITIZE),1)
check: all $(UNIT) $(ASK) $(REPLAY)
	tests/run $(BUILD) --sanitized
else
check: all $(UNIT) $(ASK) $(ESCAPE) $(MACOS_TEST) $(REPLAY)
	$(MAKE) SANITIZE=1 all unit-programs
	tests/run $(BUILD) $(BUILD)/sanitize
endif
unit-programs: $(UNIT) $(ASK) $(REPLAY)

# What is measured, against which targets: docs/performance.md.
BENCH := $(patsubst bench/%.c,$(BUILD)/bench/%,$(wildcard bench/*.c))
$(BUILD)/bench/%: $(BUILD)/bench/%.o $(XML_CUT) $(ARCHIVES)
	@echo link $@
	@$(CC) $(LINK) -o $@ $^ $(XML_LIBS) -ljansson -lsodium -lutf8proc -pthread
bench: all $(BENCH)
	bench/run $(BUILD)

# Random input for the parser, the readers of .bin files, profiles and specifications, and the questions of why, FUZZ_SECONDS
# each (clang).
FUZZ_SECONDS ?= 60
FUZZ         := build/fuzz
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,$(FUZZ)/%,$(wildcard tests/fuzz/*_fuzz.c))
FUZZ_FLAGS   := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
fuzz:
	@echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' | \
	    clang -fsanitize=fuzzer,address -x c - -o /dev/null 2>/dev/null || \
	    { echo "fuzz: needs clang and its runtime: apt install clang libclang-rt-14-dev" \
	           "(the number is that of clang), or dnf install clang compiler-rt" >&2; exit 1; }
	@$(MAKE) CC=clang BUILD=$(FUZZ) OPTIMISE="$(FUZZ_FLAGS)" LINK="-fsanitize=address,undefined" $(FUZZ_TARGETS) $(FUZZ)/sbxc
	tests/fuzz/run $(FUZZ) $(FUZZ_SECONDS)
$(FUZZ)/%_fuzz: $(FUZZ)/tests/fuzz/%_fuzz.o $(ARCHIVES)
	@echo link $@
	@$(CC) -fsanitize=fuzzer,address,undefined -o $@ $^ $(XML_LIBS) -ljansson -lsodium -lutf8proc -pthread

demo: all
	examples/demo.sh $(BUILD)

# The README's two commands in a root made by debootstrap, as root and as an ordinary user (long; needs root and a mirror).
check-fresh:
	tests/fresh/run.sh

# The launch suites with bubblewrap as installed and with newer versions from Debian's source packages (needs root and a mirror).
check-bubblewraps: all $(ESCAPE) $(MACOS_TEST)
	tests/bubblewrap/check.sh $(BUILD)

# Names of packages: Debian and Ubuntu, Fedora. What is there already is not asked for again.
DEBIAN := gcc libc6-dev make flex bison pkg-config libxml2-dev libseccomp-dev libsodium-dev libjansson-dev libevent-dev \
          libutf8proc-dev libcmocka-dev bubblewrap git python3 python3-jsonschema util-linux iproute2
FEDORA := gcc glibc-static make flex bison pkgconf libxml2-devel libxml2-static libseccomp-devel libsodium-static jansson-devel \
          libevent-devel utf8proc-devel libcmocka-devel bubblewrap git python3 python3-jsonschema util-linux iproute \
          libasan libubsan
# What tests/sandbox/work_*.py do their work with.
deps-check: DEBIAN += cmake nodejs npm default-jdk-headless rustc cargo rsync sqlite3 tmux python3-venv procps xz-utils
deps-check: FEDORA += cmake nodejs npm java-devel rust cargo rsync sqlite tmux procps-ng xz
# The tools that bench/peers.py compares with; nothing else needs them.
deps-bench: DEBIAN := nftables secilc apparmor firejail
deps-bench: FEDORA := nftables secilc firejail
# Sets root to what installs; an ordinary user without sudo is told the line, which stands behind it.
BECOME_ROOT := become() { root=; test "$$(id -u)" = 0 && return; root=sudo; command -v sudo >/dev/null || \
    { echo "deps: as root, run: $$1" >&2; exit 1; }; }; become
deps deps-check deps-bench:
	@if command -v apt-get >/dev/null; then \
	    installed=$$(dpkg-query -W -f='$${db:Status-Abbrev}, $${Package}, $${Provides},\n' | grep '^ii'); \
	    missing=; for package in $(DEBIAN); do \
	        echo "$$installed" | grep -q ", $$package[ ,]" || missing="$$missing $$package"; done; \
	    test -z "$$missing" && exit 0; $(BECOME_ROOT) "apt-get install --no-install-recommends$$missing"; \
	    $$root apt-get update && $$root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $$missing; \
	elif command -v dnf >/dev/null; then \
	    rpm -q --whatprovides $(FEDORA) >/dev/null 2>&1 && exit 0; $(BECOME_ROOT) "dnf install $(FEDORA)"; \
	    $$root dnf install -y $(FEDORA); \
	else echo "deps: please install: $(DEBIAN)" >&2; exit 1; fi

# APPARMOR=1 places the AppArmor profile of sbx-launch too, APPARMOR=all also one for bubblewrap (docs/launch.md).
APPARMOR          ?=
APPARMOR_PROFILES := $(if $(APPARMOR),sbx-launch) $(if $(filter all,$(APPARMOR)),sbx-bwrap)
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include
	install -m 755 $(BUILD)/sbxc $(BUILD)/sbx-launch $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(BUILD)/libsbx.a $(DESTDIR)$(PREFIX)/lib
	install -m 755 $(BUILD)/libsbx.so.$(SBX_MAJOR) $(DESTDIR)$(PREFIX)/lib/libsbx.so.$(VERSION)
	ln -sf libsbx.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/libsbx.so.$(SBX_MAJOR)
	ln -sf libsbx.so.$(SBX_MAJOR) $(DESTDIR)$(PREFIX)/lib/libsbx.so
	install -m 644 policy/sbx.h $(DESTDIR)$(PREFIX)/include
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' policy/sbx.pc.in > $(DESTDIR)$(PREFIX)/lib/pkgconfig/sbx.pc
	for profile in $(APPARMOR_PROFILES); do install -d $(DESTDIR)/etc/apparmor.d && \
	    sed 's|@PREFIX@|$(PREFIX)|' runtime/apparmor/$$profile > $(DESTDIR)/etc/apparmor.d/$$profile || exit 1; done

clean:
	rm -rf build
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
