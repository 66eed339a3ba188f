# SPDX-License-Identifier: GPL-2.0-or-later
# culprit: what interrupts a CPU, and who is to blame. `make help` lists the targets.
#
#   V=1                 print the commands
#   O=dir               build there instead of build/
#   CC=gcc|clang        compiler of the user side; the BPF side always takes clang
#   ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- SYSROOT=dir   build for another machine; the headers
#                       and libraries of its Debian are in dir (tools/lab sysroot arm64 makes one);
#                       ARCH=riscv has no counter but CLOCK_MONOTONIC
#   SAN=address,undefined   sanitizers for the user side
#   STATIC=1            one static file, that runs where there is no library
#   ZSTD=               without libzstd, where it is installed
#   MICROHTTPD=         without --listen, though libmicrohttpd is there; so is STATIC=1
#   SODIUM=             without --host-listen and --to, though libsodium is there
#   LIBIBERTY=  LIBDW=  LIBLZMA=  user stacks without the readable names of C++ and Rust, without
#                       lines, or without the functions that stripped programs carry along
#   PROTOBUF_C=-lprotobuf-c LIBSODIUM=-lsodium   with the shared libraries though static ones are
#                       there; without a static libsodium as SODIUM=, unless LIBSODIUM says so
#   DESTDIR= PREFIX=/usr/local   for install
#   ZSH_DIR=/usr/local/share/zsh/site-functions   where zsh looks for its completion

VERSION	:= 0.1
O	?= build
PREFIX	?= /usr/local
ZSH_DIR	?= $(PREFIX)/share/zsh/site-functions
CLANG	?= clang

# The machine to build for, as the kernel calls it, and as compilers do.
HOST_ARCH := $(patsubst aarch64,arm64,$(patsubst riscv64,riscv,$(shell uname -m)))
ARCH	?= $(HOST_ARCH)
TRIPLET	:= $(patsubst arm64,aarch64,$(patsubst riscv,riscv64,$(ARCH)))-linux-gnu
CROSS	:= $(filter-out $(HOST_ARCH),$(ARCH))
PKG_CONFIG ?= pkg-config
ifneq ($(CROSS),)
CC	= $(CROSS_COMPILE)gcc
AR	= $(CROSS_COMPILE)ar
endif
ifneq ($(SYSROOT),)
ROOT_FLAGS := --sysroot=$(SYSROOT)
export PKG_CONFIG_SYSROOT_DIR := $(SYSROOT)
export PKG_CONFIG_LIBDIR := $(SYSROOT)/usr/lib/$(TRIPLET)/pkgconfig
endif
BPFTOOL	?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
Q	:= $(if $(V),,@)
say	= $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)')

comma	:= ,

.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

all: $(O)/culprit $(O)/poke

# ---- what the machine needs ----
# Debian packages; tools/setup installs missing ones (as root), and says so where it cannot.
PACKAGES := build-essential clang llvm libbpf-dev bpftool libelf-dev zlib1g-dev libzstd-dev \
	libmicrohttpd-dev libsodium-dev libiberty-dev libdw-dev liblzma-dev pkg-config \
	libprotobuf-c-dev protobuf-c-compiler
CHECK_PACKAGES := $(PACKAGES) libcmocka-dev python3 python3-jsonschema tmux perl groff-base \
	clang-format

$(O)/.setup-run: tools/setup Makefile
	$(Q)mkdir -p $(O) && tools/setup $(PACKAGES) && touch $@
# For kernels under QEMU. Without them `make check` skips those tests and says so.
LAB_PACKAGES := qemu-system-x86 seabios busybox-static zstd debian-archive-keyring \
	gcc-aarch64-linux-gnu

$(O)/.setup-check: tools/setup Makefile
	$(Q)mkdir -p $(O) && tools/setup $(CHECK_PACKAGES) && touch $@ $(O)/.setup-run
$(O)/.setup-lab: tools/setup Makefile
	$(Q)mkdir -p $(O) && tools/setup $(LAB_PACKAGES) && touch $@

# Tools that do the same as a part of culprit, or that it uses. Without them `make check` skips the
# tests that need them, and says so.
PEERS	:= rt-tests stress-ng librsvg2-bin gnuplot-nox python3-yaml
$(O)/.setup-peers: tools/setup Makefile
	$(Q)mkdir -p $(O) && tools/setup $(PEERS) && touch $@

# Readers of culprit's output, in Python, for the tests of formats. Without them `make check` skips
# those tests, and says so.
$(O)/.setup-readers: tools/setup tests/readers.txt
	$(Q)mkdir -p $(O) && tools/setup python3-venv && python3 -m venv --clear $(O)/readers
	$(Q)$(O)/readers/bin/pip install -q --no-cache-dir --require-hashes --only-binary=:all: \
		-r tests/readers.txt && touch $@

# Larger ones, which take longer to fetch than to run: make check-all has them, too.
$(O)/.setup-readers-large: $(O)/.setup-readers tests/readers-large.txt
	$(Q)$(O)/readers/bin/pip install -q --no-cache-dir --require-hashes --only-binary=:all: \
		-r tests/readers-large.txt && touch $@

# Prometheus, and its own check of metrics, without the service that its package would start.
$(O)/.setup-prometheus: $(O)/.setup-readers
	$(Q)cd $(O) && apt-get download -qq -o APT::Sandbox::User=root prometheus && \
		dpkg-deb --fsys-tarfile prometheus_*.deb | \
		tar -x --strip-components=3 ./usr/bin/promtool ./usr/bin/prometheus && \
		rm prometheus_*.deb && touch $(@F)

# tuned's own reader of profiles, without the service that its package would start.
$(O)/tuned:
	$(Q)mkdir -p $(O) && cd $(O) && rm -f tuned_*.deb && \
		apt-get download -qq -o APT::Sandbox::User=root tuned && \
		dpkg-deb -x tuned_*.deb tuned.new && rm tuned_*.deb && mv tuned.new tuned
# HdrHistogram's own programs, in Java.
$(O)/hdrhistogram:
	$(Q)mkdir -p $(O) && cd $(O) && rm -f libhdrhistogram-java_*.deb && \
		apt-get download -qq -o APT::Sandbox::User=root libhdrhistogram-java && \
		dpkg-deb -x libhdrhistogram-java_*.deb $(@F).new && \
		rm libhdrhistogram-java_*.deb && mv $(@F).new $(@F)

# WERROR=1, which `make check` sets, turns warnings into errors, but only with versions that were
# tried: Debian 12's and 13's. Newer ones warn of more, which must not end anybody's build.
TRIED	:= gcc-12 gcc-14 clang-14 clang-19 libbpf-1.1 libbpf-1.5 cmocka-1.1
ifneq ($(WERROR),)
UNTRIED	:= $(filter-out $(TRIED),$(shell for c in $(CC) $(CLANG); do \
	$$c --version | grep -q clang && name=clang || name=gcc; \
	echo $$name-$$($$c -dumpversion | cut -d. -f1); done; \
	for l in libbpf cmocka; do echo $$l-$$(pkg-config --modversion $$l | cut -d. -f1-2); done))
ERROR	:= $(if $(UNTRIED),,-Werror)
$(if $(UNTRIED),$(if $(MAKE_RESTARTS),, \
	$(info warnings are not errors here: $(UNTRIED) was not tried)))
endif

# The same source gives the same bits, wherever it is built.
SAME	:= -ffile-prefix-map=$(CURDIR)=. -ffile-prefix-map=$(O)=build

# Lists of what is linked, which a new or removed file changes (at the end of this file).
PARTS_FILE := $(O)/.parts

# ---- the BPF side: one arch-neutral object, linked from small ones, into a skeleton ----
# Files that define maps come first: bpftool 7.1 loses a map that is defined after its first use.
BPF_MAPS := bpf/trace.bpf.c bpf/asker.bpf.c
BPF_SRC	:= $(BPF_MAPS) $(filter-out $(BPF_MAPS),$(wildcard bpf/*.bpf.c))
BPF_OBJ	:= $(BPF_SRC:bpf/%.bpf.c=$(O)/bpf/%.bpf.o)
# From libbpf 1.5 on its headers need linux/types.h before them.
BPF_CFLAGS := -include linux/types.h -O2 -g -target bpf -mcpu=v3 -Wall -Wextra $(ERROR) $(SAME) \
	-Wno-unused-parameter -Ivmlinux -Ibpf -D__TARGET_ARCH_$(patsubst x86_64,x86,$(ARCH)) \
	$(if $(SYSROOT),-idirafter $(SYSROOT)/usr/include) \
	-idirafter $(SYSROOT)/usr/include/$(TRIPLET)

$(O)/bpf/%.bpf.o: bpf/%.bpf.c | $(O)/.setup-run
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c $< -o $@

$(O)/culprit.bpf.o: $(BPF_OBJ) $(PARTS_FILE)
	$(call say,LINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $(filter %.o,$^)

# The object in it is packed.
PACK	= gzip -9n < $< | od -An -v -tu1 > $@.octets && \
	LC_ALL=C awk -f tools/skeleton.awk $@.octets $@.new > $@ && rm $@.octets $@.new
$(O)/culprit.skel.h: $(O)/culprit.bpf.o tools/skeleton.awk
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name culprit_bpf > $@.new
	$(Q)$(PACK)

# The same compiled to add up: probes.c opens it by the other's skeleton, so they differ in nothing
# but code.
SUMS_OBJ := $(BPF_OBJ:$(O)/bpf/%=$(O)/sums/%)

$(SUMS_OBJ): $(O)/sums/%.bpf.o: bpf/%.bpf.c | $(O)/.setup-run
	$(call say,BPF,$< sums)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -DSUMS -MMD -MP -c $< -o $@

$(O)/sums.bpf.o: $(SUMS_OBJ) $(PARTS_FILE)
	$(call say,LINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $(filter %.o,$^)

SKEL_LAYOUT = sed -n '/^struct [a-z]*_bpf {/,/^\#ifdef/{s/sums_bpf/culprit_bpf/g;p}'
$(O)/sums.skel.h: $(O)/sums.bpf.o $(O)/culprit.skel.h
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name sums_bpf > $@.new
	$(Q)$(SKEL_LAYOUT) $(O)/culprit.skel.h > $@.layout
	$(Q)$(SKEL_LAYOUT) $@.new | cmp - $@.layout
	$(Q)$(PACK)

# ---- the user side ----
WARN	:= -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
	-Wformat=2 -Wundef -Wno-format-nonliteral -Wno-missing-field-initializers $(ERROR)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer \
	-DSANITIZED)
# Hardening, as far as the compiler has it. A distribution gives CPPFLAGS, CFLAGS and LDFLAGS after
# it; its own _FORTIFY_SOURCE stays. has takes options, and a declaration that must compile, too.
has	= $(shell printf '\043include <stdio.h>\n$(2)int main(void) { return 0; }\n' | $(CC) \
	$(ROOT_FLAGS) -O2 -Werror $(1) -x c -o /dev/null - 2>/dev/null && echo '$(1)')
FORTIFY	:= $(if $(SAN)$(findstring FORTIFY,$(CPPFLAGS) $(CFLAGS)),,\
	-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
HARDEN	:= $(call has,-fstack-protector-strong) $(call has,-fstack-clash-protection) \
	$(call has,-fcf-protection) $(call has,-mbranch-protection=standard) \
	$(if $(FORTIFY),$(call has,$(FORTIFY))) $(call has,-fPIE)
ifneq ($(and $(STATIC),$(filter riscv,$(ARCH))),)
$(error STATIC=1 is not for riscv: its linker of Debian 12 cannot make one static file of this)
endif
# The static file is copied about. Its relocations are packed, a quarter of a megabyte less: glibc
# applies such ones in a static file since 2.36. Nothing unwinds its functions.
RELR	= $(lastword $(call has,-fPIE -static-pie -Wl$(comma)--fatal-warnings \
	-Wl$(comma)-z$(comma)pack-relative-relocs,\
	char glibc[__GLIBC_PREREQ(2$(comma) 36) ? 1 : -1];))
HARDEN_LD := $(if $(STATIC),-static-pie $(RELR),$(call has,-pie)) \
	$(call has,-Wl$(comma)-z$(comma)relro$(comma)-z$(comma)now)
# A cross compiler would look for libraries at its own place first.
LINK	= $(ROOT_FLAGS) $(if $(SYSROOT),-L$(SYSROOT)/usr/lib/$(TRIPLET)) $(HARDEN_LD) $(SANFLAGS) \
	$(CFLAGS) $(LDFLAGS) $(if $(STATIC),-s)
OPTIMIZE := -O2
ALL_CFLAGS = $(ROOT_FLAGS) -std=gnu11 $(OPTIMIZE) -g $(WARN) $(HARDEN) $(SANFLAGS) $(SAME) \
	$(if $(STATIC),-fno-asynchronous-unwind-tables -fno-unwind-tables) -D_GNU_SOURCE \
	-DCULPRIT_VERSION='"$(VERSION)"' $(if $(ZSTD),-DCULPRIT_ZSTD) \
	$(if $(MICROHTTPD),-DCULPRIT_LISTEN) $(if $(LIBIBERTY),-DCULPRIT_LIBIBERTY) \
	$(if $(LIBDW),-DCULPRIT_LIBDW) $(if $(LIBLZMA),-DCULPRIT_LIBLZMA) \
	$(if $(SODIUM),-DCULPRIT_SODIUM) \
	-Isrc -Ibpf -I$(O) $(CPPFLAGS) $(CFLAGS)
LIBBPF	= $(shell $(PKG_CONFIG) $(if $(STATIC),--static) --libs libbpf libelf zlib) $(LIBPURE)

# Recordings are packed by zstd where it is there, else by zlib. ZSTD= builds without.
ZSTD	?= $(shell $(if $(SYSROOT),PKG_CONFIG_LIBDIR=$(PKG_CONFIG_LIBDIR)) \
	$(PKG_CONFIG) --exists libzstd && echo yes)

# --listen opens libmicrohttpd when it runs: only its header is needed here. Static programs cannot.
MICROHTTPD ?= $(if $(STATIC),,$(shell $(if $(SYSROOT),PKG_CONFIG_LIBDIR=$(PKG_CONFIG_LIBDIR)) \
	$(PKG_CONFIG) --exists libmicrohttpd && echo yes))

# Readable names of C++ and Rust; it is a static library alone, and has no file for pkg-config.
LIBIBERTY ?= $(and $(wildcard $(SYSROOT)/usr/include/libiberty/demangle.h),$(wildcard \
	$(foreach dir,lib/$(TRIPLET) lib64 lib,$(SYSROOT)/usr/$(dir)/libiberty.a)))
# Lines of code, and packed functions; opened when it runs, as libmicrohttpd is.
LIBDW	?= $(if $(STATIC),,$(wildcard $(SYSROOT)/usr/include/elfutils/libdw.h))
LIBLZMA	?= $(if $(STATIC),,$(wildcard $(SYSROOT)/usr/include/lzma.h))

PURE_SRC := $(wildcard src/base/*.c src/model/*.c src/recording/*.c src/render/*.c src/audit/*.c)
# poke's classes are a part of culprit selftest.
POKE_SRC := $(filter-out tools/poke_program.c,$(wildcard tools/poke*.c))
LIVE_SRC := $(wildcard src/collect/*.c src/cmd/*.c) src/main.c $(POKE_SRC)
MADE_SRC := $(O)/causes.c $(O)/topics.c $(O)/html_css.c $(O)/schemas.c $(O)/perfetto.pb-c.c
PURE_OBJ := $(PURE_SRC:%.c=$(O)/%.o) $(MADE_SRC:.c=.o)
# Seals what goes from a host to its guest. As protobuf-c a user need not have it.
LIBSODIUM ?= -l:libsodium.a
SODIUM	?= $(and $(wildcard $(SYSROOT)/usr/include/sodium.h),$(or $(filter-out -l:%,$(LIBSODIUM)), \
	$(wildcard $(foreach dir,lib/$(TRIPLET) lib64 lib,$(SYSROOT)/usr/$(dir)/libsodium.a))))
# A user who copies the binary need not have protobuf-c, where a static one is there; distributions
# give -lprotobuf-c.
PROTOBUF_C ?= $(if $(wildcard $(foreach dir,lib/$(TRIPLET) lib64 lib,\
	$(SYSROOT)/usr/$(dir)/libprotobuf-c.a)),-l:libprotobuf-c.a,-lprotobuf-c)
# riscv has no atomic instructions for bytes, and the users of a binary no libatomic.
LIBPURE	= -lm -lz $(if $(ZSTD),-lzstd) $(if $(LIBIBERTY),-liberty) $(PROTOBUF_C) \
	$(if $(filter riscv,$(ARCH)),-l:libatomic.a)
LIVE_OBJ := $(LIVE_SRC:%.c=$(O)/%.o)

# Objects are built again when the way they are built changes.
FLAGS_FILE := $(O)/.flags
FLAGS_NOW := $(CC) $(subst ','\'',$(filter-out -Werror,$(ALL_CFLAGS)))
$(shell mkdir -p $(O); echo '$(FLAGS_NOW)' | cmp -s - $(FLAGS_FILE) || \
	echo '$(FLAGS_NOW)' > $(FLAGS_FILE))

$(O)/%.o: %.c $(FLAGS_FILE) | $(O)/.setup-run $(O)/perfetto.pb-c.h
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(O)/src/collect/probes.o: $(O)/culprit.skel.h $(O)/sums.skel.h
$(O)/src/cmd/noise.o: ALL_CFLAGS += -Itools

# Through these each record of a report passes, up to a hundred million of them.
HOT	:= base/hist model/join model/nest model/nest_names model/nest_stack model/session \
	model/slices model/source model/summary recording/batch recording/codec_state \
	recording/decoder recording/events recording/fill
$(HOT:%=$(O)/src/%.o): OPTIMIZE := -O3
# In the static file what does nothing often is small; of texts gcc knows less then.
ifneq ($(STATIC),)
$(foreach part,audit cmd model recording render,$(O)/src/$(part)/%.o): OPTIMIZE := -Os \
	$(call has,-Wno-format-truncation)
endif

# The commit that `culprit version` names. Nothing else is built again when it changes, and nothing
# at all to install what was built.
COMMIT_FILE := $(O)/.commit
$(if $(filter install,$(MAKECMDGOALS)),,$(shell \
	tools/commit | cmp -s - $(COMMIT_FILE) || tools/commit > $(COMMIT_FILE)))
$(COMMIT_FILE):
	$(Q)tools/commit > $@
$(O)/src/cmd/version.o: ALL_CFLAGS += -DCULPRIT_COMMIT='"$(shell cat $(COMMIT_FILE))"'
$(O)/src/cmd/version.o: $(COMMIT_FILE)

# The cause book.
CAUSES	:= $(wildcard src/audit/causes/*.cause)
PROVEN	:= src/audit/causes/proven src/audit/causes/unproven
$(O)/causes.c: tools/causes.awk $(CAUSES) $(PROVEN)
	$(call say,AWK,$@)
	$(Q)LC_ALL=C awk -f tools/causes.awk $(CAUSES) $(PROVEN) > $@
# The help topics.
TOPICS	:= $(wildcard src/cmd/topics/*.txt)
$(O)/topics.c: tools/topics.awk $(TOPICS)
	$(call say,AWK,$@)
	$(Q)LC_ALL=C awk -f tools/topics.awk $(TOPICS) > $@
# The style of the HTML report, as a string.
$(O)/html_css.c: src/render/html.css Makefile
	$(call say,SED,$@)
	$(Q)(echo '#include "render/html.h"'; echo 'const char html_css[] ='; \
		sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $<; echo ';') > $@
# The schemas of what is written as JSON.
SCHEMA_FILES := $(wildcard tests/schema/*.json)
$(O)/schemas.c: tools/schemas.awk $(SCHEMA_FILES)
	$(call say,AWK,$@)
	$(Q)LC_ALL=C awk -f tools/schemas.awk $(SCHEMA_FILES) > $@
$(MADE_SRC:.c=.o): %.o: %.c $(FLAGS_FILE)
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# The part of Perfetto's trace format that is written. It is there before any object is made, as who
# includes it is known only then.
$(O)/perfetto.pb-c.h: src/render/perfetto.proto | $(O)/.setup-run
	$(call say,PROTO,$<)
	$(Q)protoc-c --proto_path=$(<D) --c_out=$(O) $<
$(O)/perfetto.pb-c.c: $(O)/perfetto.pb-c.h ;

# Allocations pass src/cmd/memory.c, so that none that fails is forgotten.
WRAP	:= $(patsubst %,-Wl$(comma)--wrap=%,malloc calloc realloc reallocarray strdup strndup \
	asprintf vasprintf __asprintf_chk __vasprintf_chk open_memstream)

$(O)/culprit: $(LIVE_OBJ) $(O)/libpure.a $(PARTS_FILE)
	$(call say,LD,$@)
	$(Q)$(CC) $(LINK) $(WRAP) -o $@ $(filter %.o %.a,$^) $(LIBBPF) \
		$(if $(SODIUM),$(LIBSODIUM))

# The code that makes reports; it links without libbpf.
$(O)/libpure.a: $(PURE_OBJ) $(PARTS_FILE)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

$(O)/poke: $(O)/tools/poke_program.o $(POKE_SRC:%.c=$(O)/%.o)
	$(call say,LD,$@)
	$(Q)$(CC) $(ROOT_FLAGS) $(SANFLAGS) $(LDFLAGS) -o $@ $^ -lpthread

-include $(shell find $(O) -path $(O)/package -prune -o -type f -name '*.d' -print 2>/dev/null)

# ---- use ----
run: $(O)/.setup-run ## install what is missing, build, and measure for 10 s
	$(Q)$(MAKE) --no-print-directory $(O)/culprit
	$(Q)$(O)/culprit run -d 10s $(ARGS)

# ---- tests ----
UNIT	:= $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(wildcard tests/unit/test_*.c))
LIVE	:= $(sort $(wildcard tests/live/*.t))
# Objects that only patterns name are kept. All others are named, and made where they are missing.
.SECONDARY: $(patsubst %.c,$(O)/%.o,$(wildcard tests/unit/*.c))

$(O)/tests/unit/%: $(O)/tests/unit/%.o $(O)/libpure.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ROOT_FLAGS) $(SANFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) \
		-lcmocka $(LIBPURE)

KNOBS	:= knobs.o knob_file.o knob_thread.o

$(O)/tests/unit/test_unit_search: $(O)/src/collect/units.o
$(O)/tests/unit/test_sender: $(O)/src/cmd/sender.o
$(O)/tests/unit/test_commands: $(O)/src/collect/commands.o $(O)/src/collect/reading.o
$(O)/tests/unit/test_owners: $(O)/src/collect/owners.o $(O)/src/collect/mounts.o
$(O)/tests/unit/test_knobs: $(addprefix $(O)/src/collect/,journal.o $(KNOBS))
$(O)/tests/unit/test_fixes: $(O)/src/cmd/fixes.o
$(O)/tests/unit/test_trial: $(O)/src/cmd/trial.o \
	$(addprefix $(O)/src/collect/,guardian.o journal.o $(KNOBS))
$(O)/tests/unit/test_reports: $(O)/src/collect/reports.o
$(O)/tests/unit/test_audit_bounds: LDFLAGS += $(WRAP)
$(O)/tests/unit/test_holder: $(O)/src/collect/holder.o
$(O)/tests/unit/test_ring: $(O)/src/collect/ring.o
$(O)/tests/unit/test_user_stacks: $(O)/src/collect/user_stacks.o
$(O)/tests/unit/test_user_shares: $(O)/src/collect/user_shares.o
$(O)/tests/unit/test_user_open: $(O)/src/collect/user_open.o $(O)/src/collect/user_process.o
$(O)/tests/unit/test_user_files: LDFLAGS += -Wl,--wrap=user_open,--wrap=user_close
$(O)/tests/unit/test_user_files: \
	$(addprefix $(O)/src/collect/user_,files.o walk.o open.o process.o parser.o parse.o \
		source.o packed.o made.o)
$(O)/tests/unit/test_irq_names: $(addprefix $(O)/src/collect/,irq_names.o irq_vectors.o)
$(O)/tests/unit/test_preemption: $(O)/src/collect/preemption.o
$(O)/tests/unit/test_symbols: $(O)/src/collect/symbols.o
$(O)/tests/unit/test_vcpus: $(addprefix $(O)/src/collect/,vcpus.o reading.o)
$(O)/tests/unit/test_choice: $(addprefix $(O)/src/collect/,chosen.o units.o mounts.o)
$(O)/tests/unit/test_vcpu_clocks: $(O)/src/collect/vcpu_clocks.o
$(O)/tests/unit/test_anchor: $(O)/src/collect/spin.o $(O)/src/collect/anchors.o
$(O)/tests/unit/test_sleep: $(O)/src/collect/sleep.o $(O)/src/collect/workload.o \
	$(O)/src/collect/spin.o

# Code that two threads share, with a hook before each access: the hooks of the compiler's thread
# sanitizer, which order.c defines.
ORDERED	:= $(addprefix src/collect/,ring read anchors spin) tests/unit/order_writer
ORDERED_SHARED := src/collect/ring src/model/sums tests/unit/order_shared tests/unit/order_reports
# The same hooks in programs, with which test_nmi.c breaks in everywhere.
$(O)/order/tests/unit/nmi_probes.o $(O)/order/tests/unit/order_shared.o \
$(O)/order/tests/unit/order_watch.o: \
	ALL_CFLAGS += -Ivmlinux -Wno-unused-parameter -Wno-pointer-arith \
	-Wno-unknown-attributes
$(O)/tests/unit/test_nmi: $(O)/order/tests/unit/nmi_probes.o $(O)/src/collect/ring.o
$(O)/order/%.o: %.c $(FLAGS_FILE) | $(O)/.setup-check
	$(call say,CC,$< (order))
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(filter-out -O2 $(HARDEN) $(SANFLAGS),$(ALL_CFLAGS)) -O1 -fsanitize=thread \
		-MMD -MP -c $< -o $@
	$(Q)objcopy $(patsubst %,--redefine-sym %,memcpy=__tsan_memcpy memmove=__tsan_memmove \
		memset=__tsan_memset) $@
# order.c and test_nmi.c define functions that the compiler takes for its own as soon as any
# sanitizer is on.
$(O)/tests/unit/order.o $(O)/tests/unit/test_nmi.o: SANFLAGS :=
$(O)/tests/unit/test_order: $(O)/tests/unit/order.o $(ORDERED:%=$(O)/order/%.o)
$(O)/tests/unit/test_order_shared: $(O)/tests/unit/order.o $(O)/tests/unit/order_hold.o \
	$(ORDERED_SHARED:%=$(O)/order/%.o)
$(O)/tests/unit/test_order_watch: $(O)/tests/unit/order.o $(O)/tests/unit/order_hold.o \
	$(O)/order/tests/unit/order_watch.o
$(O)/tests/unit/test_order_notes: $(O)/tests/unit/order.o $(O)/tests/unit/order_hold.o \
	$(O)/order/tests/unit/order_notes.o

# Programs that live tests start; built here, as not every machine that runs the tests has a
# compiler.
CALLS	:= main often seldom ask
CALLERS := $(O)/callers $(O)/callers_bare $(O)/callers_varying $(O)/callers_many \
	$(O)/callers_made $(O)/callers_mangled $(O)/callers_holding $(O)/callers_slow
HELPERS := $(O)/watched $(O)/storm $(CALLERS) $(O)/callers_stripped $(O)/callers_packed
$(O)/watched $(O)/storm: $(O)/%: tests/live/%.c src/culprit.h
	$(call say,CC,$<)
	$(Q)$(CC) $(ROOT_FLAGS) -O2 $(WARN) -D_GNU_SOURCE -Isrc -o $@ $< -pthread
# One program with frame pointers, without, without and with numbers in their register, with words
# between them and the system call, with more ways than there is room for, with code that it makes,
# with names of other languages, with one that takes long to write out, and with nothing but what it
# needs to run.
$(O)/callers: FRAMES := -fno-omit-frame-pointer -g
$(O)/callers_mangled: FRAMES := -fno-omit-frame-pointer -DMANGLED
$(O)/callers_bare: FRAMES := -fomit-frame-pointer
$(O)/callers_varying: FRAMES := -fomit-frame-pointer -DVARYING
$(O)/callers_holding: FRAMES := -fomit-frame-pointer -DHOLDING
$(O)/callers_many: FRAMES := -fno-omit-frame-pointer -DMANY
$(O)/callers_slow: FRAMES := -fno-omit-frame-pointer -DMANY -DSLOW
$(O)/callers_made: FRAMES := -fno-omit-frame-pointer -DMADE
$(CALLERS): tests/live/callers.c
	$(call say,CC,$@)
	$(Q)$(CC) $(ROOT_FLAGS) -O2 $(FRAMES) -fasynchronous-unwind-tables -Wl,--build-id $(WARN) \
		-D_GNU_SOURCE -o $@ $< -pthread
$(O)/callers_stripped: $(O)/callers
$(O)/poke_frames_stripped: $(O)/poke_frames
$(O)/callers_stripped $(O)/poke_frames_stripped:
	$(call say,STRIP,$@)
	$(Q)$(CROSS_COMPILE)strip -o $@ $<
# poke with each call where its source has it.
$(O)/poke_frames: tools/poke_program.c $(POKE_SRC) tools/poke.h tools/poke_main.h
	$(call say,CC,$@)
	$(Q)$(CC) $(ROOT_FLAGS) -O1 -g -fno-omit-frame-pointer -fno-inline \
		-fno-optimize-sibling-calls -fasynchronous-unwind-tables -Wl,--build-id \
		-D_GNU_SOURCE -Isrc -o $@ $(filter %.c,$^) -pthread
# Stripped, and carries its functions along as Fedora's programs do.
$(O)/callers_packed: $(O)/callers $(O)/callers_stripped
	$(call say,OBJCOPY,$@)
	$(Q)$(CROSS_COMPILE)objcopy -S -R .comment $(CALLS:%=-K %) $< $@.mini && xz -f $@.mini && \
		$(CROSS_COMPILE)objcopy --add-section .gnu_debugdata=$@.mini.xz $<_stripped $@ && \
		rm $@.mini.xz

# A virtual machine of known exits, of x86 alone.
VCPU	:= $(if $(filter x86_64,$(ARCH)),$(O)/vcpu)
$(O)/vcpu: tests/vm/vcpu.c
	$(call say,CC,$<)
	$(Q)$(CC) $(ROOT_FLAGS) -O2 $(WARN) -D_GNU_SOURCE -static -o $@ $< -pthread

# Debian 12's cmocka does not have the names that its successors want.
$(O)/tests/unit/%.o: ALL_CFLAGS += -DCMOCKA_DISABLE_DEPRECATION_WARNINGS
$(O)/tests/unit/%.o: tests/unit/%.c $(FLAGS_FILE) | $(O)/.setup-check $(O)/perfetto.pb-c.h
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# As many as there are CPUs, where nobody said how many.
JOBS	= $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

check: $(O)/.setup-check ## install what is missing, build with -Werror, run all tests
	$(Q)$(MAKE) --no-print-directory check-setups & \
	$(MAKE) --no-print-directory $(JOBS) WERROR=1 lint all $(O)/lab_guest $(O)/bench \
		unit-tests $(if $(FUZZ_LIB),$(FUZZ)); rc=$$?; wait; exit $$rc
	$(Q)tests/check $(O)

# One after the other, while the compilers work. Each may fail: tests that need it say so. BROWSER:
# one, too, with which the HTML report is looked at, if it can be had within a minute.
check-setups:
	-$(Q)$(MAKE) --no-print-directory $(O)/.setup-lab
	-$(Q)$(MAKE) --no-print-directory $(O)/.setup-prometheus
	-$(Q)$(MAKE) --no-print-directory $(O)/tuned
	-$(Q)$(MAKE) --no-print-directory $(O)/.setup-peers
	-$(if $(BROWSER),$(Q)apt-get update -qq && timeout 60 apt-get install -y -qq \
		--no-install-recommends --download-only chromium >/dev/null && tools/setup chromium)

unit-tests: $(UNIT) $(O)/noise $(VCPU) $(HELPERS) $(O)/tests/unit/report_files $(O)/golden \
	$(O)/golden_machines

# The recordings whose reports are kept in tests/golden.
$(O)/golden: $(O)/tests/golden/make.o $(O)/libpure.a
$(O)/golden_machines: $(O)/tests/golden/machines.o $(O)/libpure.a
$(O)/golden $(O)/golden_machines:
	$(call say,LD,$@)
	$(Q)$(CC) $(ROOT_FLAGS) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBPURE)

golden: $(O)/.setup-check ## write tests/golden/expected anew, for review with git diff
	$(Q)$(MAKE) --no-print-directory all $(O)/golden $(O)/golden_machines
	$(Q)BUILD=$(O) tests/golden/10-reports.t write
	$(Q)BUILD=$(O) tests/golden/15-machines.t write

pictures: $(O)/.setup-check ## draw the README's pictures in tests/golden/pictures anew, for review
	$(Q)$(MAKE) --no-print-directory all
	$(Q)BUILD=$(O) tests/golden/40-pictures.t write

accuracy: $(O)/.setup-check ## find and name a thousand known noises of each class (root; minutes)
	$(Q)$(MAKE) --no-print-directory all $(O)/poke_frames_stripped
	$(Q)BUILD=$(O) tests/accuracy/score $(ARGS)
	$(Q)BUILD=$(O) tests/accuracy/kept
	$(Q)BUILD=$(O) tests/accuracy/unchanged
	$(Q)BUILD=$(O) tests/accuracy/sums
	$(Q)BUILD=$(O) tests/accuracy/stacks

live: $(O)/.setup-check $(O)/.setup-peers ## the live tests, the long ones too (root; minutes)
	$(Q)$(MAKE) --no-print-directory all unit-tests
	$(Q)LONG=1 tests/check $(O) live

SOAK_S	?= 1800
soak: $(O)/.setup-check ## storms, kills, several at once, for SOAK_S seconds (1800); prints a table
	$(Q)$(MAKE) --no-print-directory all $(HELPERS)
	$(Q)SOAK_S=$(SOAK_S) BUILD=$(O) tests/live/80-soak.t

oracle: $(O)/.setup-check $(O)/.setup-peers ## compare with the kernel's own trace (root; minutes)
	$(Q)$(MAKE) --no-print-directory all
	$(Q)LONG=1 tests/check $(O) oracle

PROVE	?= 1
prove: $(O)/.setup-check $(O)/.setup-lab ## run the fixes of the cause book in guests; minutes each
	$(Q)$(MAKE) --no-print-directory all $(O)/lab_guest
	$(MAKE_ARM64)
	$(Q)LONG=1 PROVE=$(PROVE) tests/check $(O) proofs

$(O)/lab_guest: tools/lab_guest.c
	$(call say,CC,$<)
	$(Q)$(CC) $(ROOT_FLAGS) -O2 $(WARN) -static -o $@ $<

# Programs of guests beside culprit and poke; and all of guests for arm64.
lab-guest: $(O)/lab_guest $(HELPERS)
MAKE_ARM64 = $(Q)$(MAKE) --no-print-directory lab-arm64
lab-arm64:
	$(Q)root=$$(tools/lab sysroot arm64) && $(MAKE) --no-print-directory ARCH=arm64 \
		CROSS_COMPILE=aarch64-linux-gnu- SYSROOT=$$root O=$(O)/arm64 all lab-guest

lab: $(O)/.setup-check $(O)/.setup-lab ## test in Debian's kernels under QEMU; KERNELS="6.1 6.12-rt"
	-$(Q)$(MAKE) --no-print-directory $(O)/.setup-readers
	$(Q)$(MAKE) --no-print-directory all lab-guest
	$(if $(KERNELS),$(if $(findstring :arm64,$(KERNELS)),$(MAKE_ARM64)),$(MAKE_ARM64))
	$(Q)BUILD=$(O) flock /tmp tools/lab table $(KERNELS)
	$(Q)LONG=1 tests/check $(O) vm tests/package/40-static.t

check-roots: ## build and test in clean Debians, gcc and clang (root); SUITES="trixie sid"
	$(Q)tools/setup debootstrap git python3
	$(Q)BUILD=$(O) PACKAGES="$(CHECK_PACKAGES)" tools/roots $(SUITES)

SAN_O := $(O)/san
check-san: $(O)/.setup-check ## the unit tests under the address and undefined-behaviour sanitizers
	$(Q)$(MAKE) --no-print-directory O=$(SAN_O) SAN=address,undefined WERROR=1 unit-tests
	$(Q)O=$(SAN_O) tests/check $(SAN_O) unit

check-browser: $(O)/.setup-check ## install Chromium (100 MB), and look at the HTML report with it
	$(Q)tools/setup chromium
	$(Q)$(MAKE) --no-print-directory WERROR=1 all unit-tests
	$(Q)tests/check $(O) browser

check-package: $(O)/.setup-check ## make all packages of the commit, and look into them (root)
	$(Q)tools/setup debhelper debootstrap fakeroot rpm lintian skopeo python3-yaml systemd
	-$(Q)$(MAKE) --no-print-directory $(O)/.setup-prometheus $(O)/schemas
	$(Q)$(MAKE) --no-print-directory all
	$(Q)CULPRIT_PACKAGE=1 tests/check $(O) tests/package/10-packages.t \
		tests/package/15-clean-root.t tests/package/20-deploy.t

check-cross: $(O)/.setup-check ## build for arm64 and riscv64, read recordings there (emulated)
	$(Q)tools/setup gcc-aarch64-linux-gnu gcc-riscv64-linux-gnu qemu-user \
		debian-archive-keyring
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tests/check $(O) tests/package/30-cross.t

KUBERNETES := kubernetes_validate/kubernetes-json-schema/v1.30.0-local-strict
$(O)/schemas: tests/package/schemas.txt $(O)/.setup-readers
	$(Q)rm -rf $@ $@.new && mkdir -p $@.new
	$(Q)$(O)/readers/bin/pip download -q --no-cache-dir --no-deps --require-hashes \
		-r $< -d $@.new
	$(Q)cd $@.new && for f in *.whl; do python3 -m zipfile -e "$$f" . || exit 1; done && \
		mv $(KUBERNETES) kubernetes
	$(Q)mv $@.new $@ && touch $@

# Each tests/fuzz/fuzz_NAME.c is linked with all pure code; tests/fuzz/10-run.t starts it from
# tests/fixtures/NAME, tests/fuzz/seeds/NAME and the words of NAME.dict, the one of recordings also
# from those of tests/golden.
# They need a part of clang that Debian packages apart; without it `make check` skips them.
FUZZ	:= $(patsubst tests/fuzz/%.c,$(O)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_S	?= 60
FUZZ_SAN := address,undefined -fno-sanitize-recover=all
# A call for each comparison would take a third of the time, and words of the formats are in the
# dictionaries.
FUZZ_COVERAGE := -fno-sanitize-coverage=trace-cmp
FUZZ_OBJ := $(patsubst %.c,$(O)/fuzz/%.o,$(PURE_SRC) $(MADE_SRC) tests/fuzz/pool.c \
	tests/fuzz/bound.c)
FUZZ_WRAP := $(patsubst %,-Wl$(comma)--wrap=%,malloc calloc realloc reallocarray free \
	LLVMFuzzerTestOneInput)
FUZZ_LIB = $(wildcard $(shell $(CLANG) -print-resource-dir)/lib/linux/libclang_rt.fuzzer-*.a)
$(O)/fuzz/%.o: %.c $(FLAGS_FILE) | $(O)/.setup-check $(O)/perfetto.pb-c.h
	$(call say,CC,$< (fuzz))
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(filter-out $(HARDEN),$(ALL_CFLAGS)) \
		-fsanitize=fuzzer-no-link,$(FUZZ_SAN) $(FUZZ_COVERAGE) -MMD -MP -c $< -o $@
$(O)/fuzz/fuzz_reports: $(O)/fuzz/src/collect/reports.o
$(O)/fuzz/fuzz_reports: FUZZ_LD := -Wl,--wrap=pread
$(O)/fuzz/fuzz_elf: $(O)/fuzz/src/collect/user_packed.o
$(O)/fuzz/fuzz_joined: $(O)/fuzz/src/cmd/joined.o
$(O)/fuzz/fuzz_channel: $(O)/fuzz/src/cmd/channel.o
$(O)/fuzz/fuzz_channel: FUZZ_LIBS := $(if $(SODIUM),$(LIBSODIUM))
$(O)/fuzz/fuzz_journal: $(patsubst %.o,$(O)/fuzz/src/%.o,collect/guardian.o \
	collect/journal.o $(addprefix collect/,$(KNOBS)) cmd/undo.o)
$(O)/fuzz/fuzz_journal: FUZZ_LD := $(patsubst %,-Wl$(comma)--wrap=%,open read write fsync \
	sched_setaffinity journal_boot)
$(O)/fuzz/fuzz_words: $(patsubst %,$(O)/fuzz/src/collect/%.o,owners mounts vcpus reading)
$(FUZZ): $(O)/fuzz/%: $(O)/fuzz/tests/fuzz/%.o $(FUZZ_OBJ)
	$(call say,LD,$@)
	$(Q)$(CLANG) -fsanitize=fuzzer,$(FUZZ_SAN) $(FUZZ_WRAP) $(FUZZ_LD) -o $@ $^ $(FUZZ_LIBS) \
		$(LIBPURE)

fuzz: $(O)/.setup-check ## fuzz the readers of what others wrote, each for FUZZ_S seconds (60)
	$(Q)tools/setup libclang-rt-$$($(CLANG) -dumpversion | cut -d. -f1)-dev
	$(Q)$(MAKE) --no-print-directory $(FUZZ) $(O)/golden
	$(Q)FUZZ_S=$(FUZZ_S) tests/check $(O) fuzz

check-all: ## all tests, also in clean Debians and all kernels, pokes, fuzzing (root; hours)
	-$(Q)$(MAKE) --no-print-directory $(O)/.setup-readers-large $(O)/hdrhistogram
	$(Q)tests/check-all $(O)

bench: $(O)/.setup-check ## print the table of speeds and sizes (root; some minutes)
	-$(Q)$(MAKE) --no-print-directory $(O)/.setup-lab
	-$(Q)$(MAKE) --no-print-directory $(O)/.setup-readers
	-$(Q)tools/setup linux-perf bpftrace libbpf-tools trace-cmd
	$(Q)$(MAKE) --no-print-directory all $(O)/bench $(O)/noise $(O)/lab_guest \
		$(O)/golden_machines
	$(Q)tests/bench/run $(O)

$(O)/bpf/ring.bpf.o $(O)/bpf/floor.bpf.o: $(O)/bpf/%.bpf.o: tests/bench/%.bpf.c | $(O)/.setup-run
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c $< -o $@
BENCH_BPF := $(patsubst %,$(O)/bpf/%.bpf.o,trace owner asker watch ring floor)
$(O)/bench.bpf.o: $(BENCH_BPF) $(PARTS_FILE)
	$(Q)$(BPFTOOL) gen object $@ $(filter %.o,$^)
$(O)/bench.skel.h: $(O)/bench.bpf.o
	$(Q)$(BPFTOOL) gen skeleton $< name bench_bpf > $@
$(O)/tests/bench/bench.o: $(O)/bench.skel.h

BENCH_OBJ := $(patsubst %.c,$(O)/%.o,$(filter-out %.bpf.c,$(wildcard tests/bench/*.c)))
$(O)/bench: $(BENCH_OBJ) $(filter-out $(O)/src/main.o,$(LIVE_OBJ)) $(O)/libpure.a $(PARTS_FILE)
	$(call say,LD,$@)
	$(Q)$(CC) $(LINK) $(WRAP) -o $@ $(filter %.o %.a,$^) $(LIBBPF) \
		$(if $(SODIUM),$(LIBSODIUM))

# Noise of one kind, and how long it takes.
$(O)/noise: tests/vm/noise.c
	$(call say,CC,$<)
	$(Q)$(CC) $(ROOT_FLAGS) -O2 $(WARN) -D_GNU_SOURCE -Isrc -static -o $@ $< -pthread

# ---- form ----
C_FILES := $(wildcard bpf/*.[ch] src/*.[ch] src/*/*.[ch] tools/*.[ch] tests/*/*.[ch] vmlinux/*.h)

lint: ## layering, form of the C files
	$(Q)tools/lint $(C_FILES)

fmt: ## format the C files
	$(Q)clang-format -i $(C_FILES)

# Man pages and completion, from the option tables: by a program that runs here.
DOC_CULPRIT := $(if $(CROSS),$(O)/host/culprit,$(O)/culprit)
$(O)/host/culprit:
	$(Q)$(MAKE) --no-print-directory O=$(O)/host ARCH=$(HOST_ARCH) SYSROOT= CC=cc AR=ar $@
$(O)/doc/.made: $(DOC_CULPRIT)
	$(call say,DOC,$(O)/doc)
	$(Q)rm -rf $(O)/doc && mkdir -p $(O)/doc
	$(Q)$(DOC_CULPRIT) help --man >$(O)/doc/culprit.1
	$(Q)for c in $$($(DOC_CULPRIT) help --list); do \
		$(DOC_CULPRIT) help --man $$c >$(O)/doc/culprit-$$c.1 || exit 1; done
	$(Q)for t in $$($(DOC_CULPRIT) help --topics); do \
		$(DOC_CULPRIT) help --man $${t%.*} >$(O)/doc/culprit-$$t || exit 1; done
	$(Q)$(DOC_CULPRIT) help --bash >$(O)/doc/culprit
	$(Q)$(DOC_CULPRIT) help --fish >$(O)/doc/culprit.fish
	$(Q)$(DOC_CULPRIT) help --zsh >$(O)/doc/_culprit && touch $@

install: all $(O)/doc/.made ## program, man pages and completion, into DESTDIR and PREFIX
	install -D -m 755 $(O)/culprit $(DESTDIR)$(PREFIX)/bin/culprit
	for s in 1 5 7; do install -d $(DESTDIR)$(PREFIX)/share/man/man$$s && \
		install -m 644 $(O)/doc/*.$$s $(DESTDIR)$(PREFIX)/share/man/man$$s || exit 1; done
	install -D -m 644 $(O)/doc/culprit \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/culprit
	install -D -m 644 $(O)/doc/culprit.fish \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/culprit.fish
	install -D -m 644 $(O)/doc/_culprit $(DESTDIR)$(ZSH_DIR)/_culprit
	install -D -m 644 src/culprit.h $(DESTDIR)$(PREFIX)/include/culprit.h

# The source of the commit, not the files that lie here; the same commit gives the same bytes. Its
# specification of an RPM has the version, which rpmbuild wants to find there.
DIST	:= $(O)/culprit-$(VERSION).tar.gz
SPEC	:= tools/package/culprit.spec
dist: ## the commit's source as build/culprit-VERSION.tar.gz
	$(call say,DIST,$(DIST))
	$(Q)mkdir -p $(O)/dist
	$(Q)git show HEAD:$(SPEC) | sed "s/@SOURCE@/$(VERSION)/; \
		s/@VERSION@/$$(tools/package/version $(VERSION))/" > $(O)/dist/$(notdir $(SPEC))
	$(Q)chmod 644 $(O)/dist/$(notdir $(SPEC))
	$(Q)git archive --prefix=culprit-$(VERSION)/$(dir $(SPEC)) \
		--add-file=$(O)/dist/$(notdir $(SPEC)) --prefix=culprit-$(VERSION)/ HEAD | \
		gzip -9n > $(DIST)

deb: dist ## a Debian package of the commit, as build/culprit_VERSION_ARCH.deb
	$(Q)tools/setup $(PACKAGES) debhelper fakeroot
	$(Q)tools/package/build deb $(O) $(VERSION)

rpm: dist ## the same as an RPM
	$(Q)tools/setup $(PACKAGES) rpm
	$(Q)tools/package/build rpm $(O) $(VERSION)

image: $(O)/.setup-run ## an OCI image that holds the static file alone
	$(Q)$(MAKE) --no-print-directory STATIC=1 O=$(O)/static $(O)/static/culprit
	$(Q)tools/package/build image $(O) $(VERSION)

uninstall: ## what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/culprit $(DESTDIR)$(PREFIX)/include/culprit.h
	rm -f $(DESTDIR)$(PREFIX)/share/man/man1/culprit.1
	rm -f $(DESTDIR)$(PREFIX)/share/man/man[157]/culprit-*.[157]
	rm -f $(DESTDIR)$(PREFIX)/share/bash-completion/completions/culprit
	rm -f $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/culprit.fish
	rm -f $(DESTDIR)$(ZSH_DIR)/_culprit

clean: ## remove what was built
	rm -rf $(O)

help: ## this list
	$(Q)sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22
	$(Q)echo; sed -n '2,/^$$/s/^# *//p' Makefile | sed -n '2,$$p'

PARTS_NOW := $(PURE_OBJ) $(LIVE_OBJ) $(BPF_OBJ) $(BENCH_OBJ) $(BENCH_BPF)
$(shell echo '$(PARTS_NOW)' | cmp -s - $(PARTS_FILE) || echo '$(PARTS_NOW)' > $(PARTS_FILE))

.PHONY: all run check check-setups dist deb rpm image live lab-guest lab-arm64 check-san \
	check-browser check-roots check-package \
	check-cross check-all lab fuzz golden pictures accuracy oracle prove soak unit-tests bench \
	lint fmt install uninstall clean help
