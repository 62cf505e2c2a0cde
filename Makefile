# symlake: make alone prints the targets.
SHELL := /bin/bash
BIN   := bin
CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/symlake
GO    ?= go
CONTAINER ?= docker
IMAGE ?= symlake
export CGO_ENABLED = 0
export GOFLAGS := $(GOFLAGS) -trimpath

.PHONY: help demo build test race busy bench fuzz corpora soak lint tools readers schemathesis clients airflow axe names pictures oracle image release reproducible installed trial wine

help: ## print this list
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: build ## the main job on the embedded store: ingest testdata, print a raw stack and its symbolicated form
	@bash testdata/demo.sh $(BIN)/symlake

build: ## build bin/symlake and bin/symlake-lookup, two static binaries
	$(GO) build -ldflags='-s -w' -o $(BIN)/ ./jobs/symlake ./jobs/symlake-lookup

# The packages whose tests take longest begin first. Their tests mostly wait for servers: four packages run at once.
LONGEST := ./jobs ./sinks/hbase ./ingest ./sinks/hbase/... ./formats/all

# Tests, race and fuzz are built as the program is: the flags above hold for all. make test has vetted what it runs.
test: ## run every test and replay the corpora; what needs an outside tool says SKIP and how to get it
	$(GO) vet ./... ./testdata/bench/... ./testdata/steps ./testdata/profile/raw
	bash testdata/fuzz.sh unpack
	@if command -v java >/dev/null && command -v mvn >/dev/null; then sh sinks/hbase/hbasetest/fetch.sh $(CACHE)/hbase-lib; fi
	@set -o pipefail; SYMLAKE_TOOLS=$(CACHE)/bin SYMLAKE_HBASE_LIB=$(CACHE)/hbase-lib SYMLAKE_READERS=$(CACHE)/readers SYMLAKE_SCHEMATHESIS=$(CACHE)/schemathesis SYMLAKE_CLIENTS=$(CACHE)/clients SYMLAKE_AIRFLOW=$(CACHE)/airflow SYMLAKE_TRACE=$(CACHE)/trace SYMLAKE_WINE=$(CACHE)/wine SYMLAKE_AXE=$(CACHE)/axe $(GO) test -v -vet=off -ldflags='-s -w' -p 4 -parallel 6 -timeout 30m $(LONGEST) ./... | awk -f testdata/skips.awk

race: ## run the tests of sinks and ingest that start goroutines under the race detector
	bash testdata/race.sh $(GO)

busy: ## run the tests that deal with clocks, processes and sockets beside twice as many busy loops as the machine has cores
	bash testdata/busy.sh $(GO)

tools: ## build the S3 server that tests use into the cache folder
	bash testdata/tools.sh $(CACHE)

readers: ## install the engines that read the lake in tests into the cache folder: pyarrow, DuckDB, Polars, Spark, those of Iceberg and Delta tables; and the schema of Perfetto's traces
	bash testdata/lake/readers.sh $(CACHE)/readers
	bash testdata/lake/iceberg.sh $(CACHE)/readers
	bash testdata/lake/delta.sh $(CACHE)/readers
	bash testdata/trace/schema.sh $(CACHE)/trace

schemathesis: ## install the client that fuzzes symlake serve by its OpenAPI file into the cache folder
	bash testdata/serve/schemathesis.sh $(CACHE)/schemathesis

clients: ## install what the clients of symlake serve are made and tried with into the cache folder: gRPC's own client, protoc, mypy, pytest
	bash testdata/serve/clients.sh $(CACHE)/clients

airflow: ## install the two versions of Airflow that jobs/airflow is tested on into the cache folder
	bash testdata/airflow/airflow.sh $(CACHE)/airflow

axe: ## install axe-core, which reads the pages of symlake serve in tests, into the cache folder
	bash testdata/browser/axe.sh $(CACHE)/axe

names: ## bundle real packages with nine tools into the cache folder, and note the true names of functions in their stacks; PROGRAMS names some of testdata/names/src
	bash testdata/names/names.sh $(CACHE) $(PROGRAMS)

pictures: axe ## take the pictures of pages in the documents again, in Chromium
	SYMLAKE_AXE=$(CACHE)/axe SYMLAKE_PICTURES=$(abspath $(BIN))/pictures $(GO) test ./jobs -run '^TestPage' -count=1
	for f in jobs/docs/pictures/*.png; do cp $(BIN)/pictures/$${f##*/} $$f; done

wine: ## make the folder of Wine in the cache folder, in which tests run the program for Windows
	bash testdata/wine.sh $(CACHE)/wine

oracle: ## record the goldens of testdata again with llvm-symbolizer and Apple's Swift demangler
	bash testdata/golden.sh
	bash testdata/swift/record.sh $(CACHE)

lint: ## gofmt, go vet, golangci-lint by .ci/golangci.yml, and the rules of the tree: layers, sizes, words
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	$(GO) vet ./... ./testdata/bench/... ./testdata/steps ./testdata/profile/raw
	bash testdata/lint.sh $(CACHE)
	$(GO) test ./jobs/internal/house

release: ## build archives, packages, an image and checksums of VERSION=1.2.3 into bin/dist, for every system; without VERSION, of this commit's tag
	bash .ci/release.sh $(CACHE) $(VERSION)

reproducible: ## build the release in bin/dist once more, elsewhere, and compare the two to the byte
	bash .ci/reproducible.sh $(CACHE) $(VERSION)

installed: ## install the release in bin/dist on a fresh Debian in a chroot, and use it; look into its other packages
	bash .ci/installed.sh $(CACHE)

trial: ## build and install what a release of this commit would be, for three systems; vet for Windows and macOS
	GOOS=windows GOARCH=amd64 $(GO) vet ./...
	GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	RELEASE_TARGETS="linux_$$($(GO) env GOHOSTARCH) windows_amd64 darwin_arm64" bash .ci/release.sh $(CACHE) 0.0.0
	bash .ci/installed.sh $(CACHE)
	RELEASE_TARGETS=linux_$$($(GO) env GOHOSTARCH) bash .ci/reproducible.sh $(CACHE) 0.0.0

image: build ## a container image of the static binary, by docker or by what CONTAINER names: podman, buildah
	mkdir -p $(BIN)/image/data
	cp $(BIN)/symlake jobs/image/Dockerfile $(BIN)/image/
	cp $(firstword $(wildcard /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem)) $(BIN)/image/ca-certificates.crt
	$(CONTAINER) build -t $(IMAGE) $(BIN)/image

fuzz: ## run every fuzz target for FUZZTIME each (default 30s); with CHANGED=REVISION those of packages that changed since then, begun within BUDGET seconds
	bash testdata/fuzz.sh run $(or $(FUZZTIME),30s) "$(CHANGED)" "$(BUDGET)"

corpora: ## store what the fuzzer found of interest since in testdata/corpora.tar.gz, which make test replays
	bash testdata/fuzz.sh pack

soak: ## the long forms: 1,000 kills of three workers on a folder and on HBase, every crash point in memory, on a disk and on HBase, 200 kills of an ingest, 100 of a load into HBase, 200 of loaders and servers under Kerberos, an HDFS with Kerberos that protects in each way and fails over, the suite of stores under each protection, 10^8 damaged Swift names, 10^5 requests of a server, all runs of the older Airflow, JSON of 1 GB, 13 builds of crash sites, ten minutes of Kerberos tickets that last 4 seconds and of a lying server, all tests of sinks and ingest under the race detector, every fuzz target for five minutes
	SYMLAKE_STORM_NAMES=100000000 $(GO) test ./formats/demangle/swift -run TestStorm -count=1 -timeout 60m
	SYMLAKE_STORM_KILLS=1000 $(GO) test ./jobs -run '^TestStorm$$' -count=1 -timeout 60m
	SYMLAKE_STORM_KILLS=1000 SYMLAKE_HBASE_LIB=$(CACHE)/hbase-lib $(GO) test ./jobs -run '^TestHBase$$/workers' -count=1 -timeout 120m
	SYMLAKE_CRASH_ALL=1 $(GO) test ./ingest -run '^(TestCrashPoints|TestPowerLoss)$$' -v -count=1 -timeout 60m
	SYMLAKE_CRASH_HBASE=1 SYMLAKE_HBASE_LIB=$(CACHE)/hbase-lib $(GO) test ./ingest -run '^TestHBase$$/crash' -v -count=1 -timeout 180m
	SYMLAKE_KILL_POINTS=200 $(GO) test ./jobs -run TestKill -count=1 -timeout 60m
	SYMLAKE_KILL_POINTS=100 SYMLAKE_HBASE_LIB=$(CACHE)/hbase-lib $(GO) test ./jobs -run '^TestHBase$$/loader' -count=1 -timeout 60m
	SYMLAKE_STORM_KILLS=200 SYMLAKE_HBASE_LIB=$(CACHE)/hbase-lib $(GO) test ./jobs -run '^TestHBaseSecure$$' -v -count=1 -timeout 120m
	SYMLAKE_SUITES=1 SYMLAKE_HBASE_LIB=$(CACHE)/hbase-lib $(GO) test ./sinks/hbase -run '^TestSecureStores$$' -v -count=1 -timeout 60m
	SYMLAKE_HDFS_LONG=1 SYMLAKE_HBASE_LIB=$(CACHE)/hbase-lib $(GO) test ./sinks/hbase/hdfs -v -count=1 -timeout 60m
	SYMLAKE_CLUSTER=1 SYMLAKE_HBASE_LIB=$(CACHE)/hbase-lib $(GO) test ./sinks/hbase -run '^TestSmallCluster$$' -v -count=1 -timeout 60m
	SYMLAKE_AIRFLOW_WHOLE=1 SYMLAKE_AIRFLOW=$(CACHE)/airflow $(GO) test ./jobs -run '^TestAirflow$$' -v -count=1 -timeout 60m
	SYMLAKE_GROUPS=1 $(GO) test ./jobs -run '^TestGroupBuilds$$' -v -count=1 -timeout 60m
	@if command -v java >/dev/null && command -v mvn >/dev/null; then sh testdata/r8/builds.sh $(CACHE) && SYMLAKE_R8_BUILDS=1 CACHE=$(CACHE) $(GO) test ./formats/retrace -run '^TestFreshBuilds$$' -v -count=1 -timeout 60m; fi
	bash testdata/race.sh $(GO) all
	SYMLAKE_POWER_LOSSES=1 $(GO) test ./jobs -run TestFirstRunLosesPower -v -count=1 -timeout 60m
	SYMLAKE_JSON_BYTES=1073741824 $(GO) test ./formats/report/all -run '^TestLongJSON$$' -v -count=1 -timeout 60m
	SYMLAKE_RENEW_TIME=10m SYMLAKE_HBASE_LIB=$(CACHE)/hbase-lib $(GO) test ./sinks/hbase ./sinks/hbase/internal/krb -run '^(TestSecureRenewal|TestRenewal)$$' -v -count=1 -timeout 60m
	$(GO) test ./sinks/hbase/internal/login -run '^$$' -fuzz '^FuzzHandshake$$' -fuzztime 10m -fuzzminimizetime 10x
	bash testdata/fuzz.sh run 5m
	SYMLAKE_SERVE_REQUESTS=100000 $(GO) test ./jobs -run 'TestServeGenerated|TestServeSlowShare' -v -count=1 -timeout 600m
	SYMLAKE_FUZZ_SECONDS=600 SYMLAKE_SCHEMATHESIS=$(CACHE)/schemathesis $(GO) test ./jobs -run TestServeFuzzed -count=1 -timeout 60m

bench: build ## measure ingest and look-up beside their peers; downloads inputs into the cache folder
	bash testdata/bench/bench.sh $(CACHE) $(abspath $(BIN)/symlake)
	@if command -v npm >/dev/null; then SYMLAKE_NEWEST=$(CACHE)/newest $(GO) test ./formats/sourcemap -run '^TestNewest$$' -v -count=1; fi
	@if command -v cargo >/dev/null; then bash testdata/swift/oracle.sh $(CACHE); fi
	SYMLAKE_TOOLS=$(CACHE)/bin $(GO) test ./formats/demangle/swift -run '^$$' -bench . -benchtime 1x
	TMPDIR=$$([ -d /dev/shm ] && echo /dev/shm || echo $${TMPDIR:-/tmp}) SYMLAKE_BENCH=1 $(GO) test ./jobs -run TestBench -v -p 1 -count=1 -timeout 60m
