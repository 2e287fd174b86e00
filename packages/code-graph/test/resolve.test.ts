import { describe, expect, it } from "vitest";
import type { Relation } from "../src/index.js";
import { graphOf, resolvedLines } from "./support.js";

interface ResolveCase {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  /** The file whose edges are checked. */
  readonly from: string;
  readonly relation?: Relation;
  readonly expected: readonly string[];
}

const IMPORTS: readonly ResolveCase[] = [
  {
    name: "TypeScript: relative, with the extension rules",
    from: "/p/src/a.ts",
    files: {
      "/p/src/a.ts": `import "./b.js"; import "./c"; import "../lib"; import "./d.jsx"; import "./data.json"; import "./e.mjs"; import "./x.js"; import "./none.js"; import "./style.css"; import "..";`,
      "/p/src/b.ts": "",
      "/p/src/b.js": "",
      "/p/src/c.tsx": "",
      "/p/lib/index.ts": "",
      "/p/src/d.tsx": "",
      "/p/src/data.json": "{}",
      "/p/src/e.mts": "",
      "/p/src/x.d.ts": "",
      "/p/src/style.css": "",
      "/p/index.ts": "",
    },
    expected: [
      "file -> file:/p/src/b.ts",
      "file -> file:/p/src/c.tsx",
      "file -> file:/p/lib/index.ts",
      "file -> file:/p/src/d.tsx",
      "file -> file:/p/src/data.json",
      "file -> file:/p/src/e.mts",
      "file -> file:/p/src/x.d.ts",
      "file -> external:./none.js",
      "file -> file:/p/src/style.css",
      "file -> file:/p/index.ts",
    ],
  },
  {
    name: "TypeScript: paths and baseUrl of the nearest tsconfig, also where it extends another",
    from: "/p/app/src/a.ts",
    files: {
      "/p/tsconfig.base.json": `{ // shared\n "compilerOptions": { "baseUrl": ".", "paths": { "@lib/*": ["libs/*/src"], "@lib/special": ["special.ts"], }, }, }`,
      "/p/app/tsconfig.json": `{ "extends": "../tsconfig.base.json" }`,
      "/p/app/src/a.ts": `import "@lib/one"; import "@lib/special"; import "shared/x"; import "unknown"; export * from "@lib/two";`,
      "/p/libs/one/src/index.ts": "",
      "/p/special.ts": "",
      "/p/shared/x.ts": "",
    },
    expected: [
      "file -> file:/p/libs/one/src/index.ts",
      "file -> file:/p/special.ts",
      "file -> file:/p/shared/x.ts",
      "file -> external:unknown",
      "file -> external:@lib/two",
    ],
  },
  {
    name: "TypeScript: packages of the workspace by name and subpath, from what the build makes to its source",
    from: "/w/packages/app/src/a.ts",
    files: {
      "/w/packages/core/package.json": `{ "name": "@w/core", "exports": { ".": { "types": "./dist/index.d.ts", "default": "./dist/index.js" }, "./http": "./dist/http/index.js", "./x/*": "./dist/x/*.js" } }`,
      "/w/packages/core/src/index.ts": "",
      "/w/packages/core/src/http/index.ts": "",
      "/w/packages/core/src/x/one.ts": "",
      "/w/packages/app/package.json": `{ "name": "app", "imports": { "#inner/*": "./src/inner/*.ts" } }`,
      "/w/packages/app/src/inner/b.ts": "",
      "/w/packages/app/src/a.ts": `import "@w/core"; import "@w/core/http"; import "@w/core/x/one"; import "#inner/b"; import "app/src/inner/b"; import "@w/other"; import "node:fs";`,
    },
    expected: [
      "file -> file:/w/packages/core/src/index.ts",
      "file -> file:/w/packages/core/src/http/index.ts",
      "file -> file:/w/packages/core/src/x/one.ts",
      "file -> file:/w/packages/app/src/inner/b.ts",
      "file -> external:@w/other",
      "file -> external:node:fs",
    ],
  },
  {
    name: "TypeScript: two packages of the same name are not guessed",
    from: "/w/a.ts",
    files: {
      "/w/one/package.json": `{ "name": "twin", "main": "index.js" }`,
      "/w/one/index.js": "",
      "/w/two/package.json": `{ "name": "twin", "main": "index.js" }`,
      "/w/two/index.js": "",
      "/w/a.ts": `import "twin";`,
    },
    expected: ["file -> external:twin"],
  },
  {
    name: "Python: relative and absolute packages, with and without __init__",
    from: "/p/src/shop/sub/a.py",
    files: {
      "/p/src/shop/__init__.py": "",
      "/p/src/shop/sub/__init__.py": "",
      "/p/src/shop/sub/b.py": "",
      "/p/src/shop/c.py": "",
      "/p/src/shop/plain/d.py": "",
      "/p/tests/helper.py": "",
      "/p/src/shop/sub/a.py": `from . import b\nfrom .. import c\nfrom ..c import x\nimport shop.sub.b\nfrom shop.plain import d, e\nimport json\nfrom ...gone import y\nfrom . import *\n`,
    },
    expected: [
      "file -> file:/p/src/shop/sub/b.py",
      "file -> file:/p/src/shop/c.py",
      "file -> file:/p/src/shop/plain/d.py",
      "file -> external:shop.plain.e",
      "file -> external:json",
      "file -> external:...gone.y",
      "file -> file:/p/src/shop/sub/__init__.py",
    ],
  },
  {
    name: "Go: packages by the path of their module, of other modules and of replaced ones",
    from: "/go/shop/cmd/main.go",
    files: {
      "/go/shop/go.mod": "module example.com/shop\n\nreplace example.com/old => ../old\n",
      "/go/shop/internal/store/store.go": "package store\n",
      "/go/shop/internal/store/more.go": "package store\n",
      "/go/shop/internal/store/store_test.go": "package store\n",
      "/go/tools/go.mod": "module example.com/tools/v2\n",
      "/go/tools/run/run.go": "package run\n",
      "/go/old/old.go": "package old\n",
      "/go/shop/cmd/main.go": `package main\nimport (\n"fmt"\n"example.com/shop/internal/store"\n"example.com/tools/v2/run"\n"example.com/old"\n"example.com/shop/gone"\n)\n`,
    },
    expected: [
      "file -> external:fmt",
      "file -> file:/go/shop/internal/store/more.go",
      "file -> file:/go/shop/internal/store/store.go",
      "file -> file:/go/tools/run/run.go",
      "file -> file:/go/old/old.go",
      "file -> external:example.com/shop/gone",
    ],
  },
  {
    name: "Rust: mod, use crate, use super and crates of the workspace",
    from: "/r/app/src/net/mod.rs",
    files: {
      "/r/app/Cargo.toml": '[package]\nname = "app"\n',
      "/r/util/Cargo.toml": '[package]\nname = "my-util"\n',
      "/r/util/src/lib.rs": "pub fn help() {}\n",
      "/r/app/src/main.rs": "mod net; mod config;\n",
      "/r/app/src/config.rs": "pub struct Config;\n",
      "/r/app/src/net/tcp.rs": "pub fn listen() {}\n",
      "/r/app/src/net/mod.rs":
        "mod tcp;\nuse crate::config::Config;\nuse super::config;\nuse self::tcp::listen;\nuse my_util::help;\nuse std::io;\nuse crate::gone::X;\n",
    },
    expected: [
      "file -> file:/r/app/src/net/tcp.rs",
      "file -> file:/r/app/src/config.rs",
      "file -> file:/r/util/src/lib.rs",
      "file -> external:std",
      "file -> file:/r/app/src/main.rs",
    ],
  },
  {
    name: "C and C++: headers beside the file, in include folders, not those of the system",
    from: "/c/src/a.c",
    files: {
      "/c/src/a.c":
        '#include <stdio.h>\n#include "b.h"\n#include "util/c.h"\n#include <proj/api.h>\n#include "none.h"\n',
      "/c/src/b.h": "int b(void);\n",
      "/c/util/c.h": "int c(void);\n",
      "/c/include/proj/api.h": "int api(void);\n",
      "/c/stdio.h": "int wrong(void);\n",
    },
    expected: [
      "file -> external:stdio.h",
      "file -> file:/c/src/b.h",
      "file -> file:/c/util/c.h",
      "file -> file:/c/include/proj/api.h",
      "file -> external:none.h",
    ],
  },
  {
    name: "Java: types by their full names, and packages by the types that are mentioned",
    from: "/j/a/A.java",
    files: {
      "/j/a/A.java":
        "package a;\nimport b.B;\nimport b.Outer.Inner;\nimport static c.Checks.require;\nimport d.*;\nimport java.util.List;\nclass A { Used u; }\n",
      "/j/b/B.java": "package b; public class B {}",
      "/j/b/Outer.java": "package b; public class Outer { public static class Inner {} }",
      "/j/c/Checks.java": "package c; public class Checks { public static void require() {} }",
      "/j/d/Used.java": "package d; public class Used {}",
      "/j/d/Unused.java": "package d; public class Unused {}",
    },
    expected: [
      "file -> file:/j/b/B.java",
      "file -> file:/j/b/Outer.java",
      "file -> file:/j/c/Checks.java",
      "file -> file:/j/d/Used.java",
      "file -> external:java.util.List",
    ],
  },
  {
    name: "C#: namespaces by the types that are mentioned",
    from: "/n/A.cs",
    files: {
      "/n/A.cs":
        "using System;\nusing Shop.Store;\nusing H = Shop.Tools.Helper;\nnamespace Shop;\nclass A { Document d; }\n",
      "/n/Document.cs": "namespace Shop.Store { public class Document {} }",
      "/n/Other.cs": "namespace Shop.Store { public class Other {} }",
      "/n/Helper.cs": "namespace Shop.Tools;\npublic class Helper {}",
    },
    expected: ["file -> external:System", "file -> file:/n/Document.cs", "file -> file:/n/Helper.cs"],
  },
  {
    name: "Ruby: require_relative, and require from lib",
    from: "/rb/lib/shop/a.rb",
    files: {
      "/rb/lib/shop/a.rb":
        'require "json"\nrequire_relative "b"\nrequire_relative "../c.rb"\nrequire "shop/d"\nrequire_relative "gone"\n',
      "/rb/lib/shop/b.rb": "",
      "/rb/lib/c.rb": "",
      "/rb/lib/shop/d.rb": "",
    },
    expected: [
      "file -> external:json",
      "file -> file:/rb/lib/shop/b.rb",
      "file -> file:/rb/lib/c.rb",
      "file -> file:/rb/lib/shop/d.rb",
      "file -> external:gone",
    ],
  },
  {
    name: "PHP: PSR-4 of composer.json, what files declare, and includes",
    from: "/php/src/Shop/A.php",
    files: {
      "/php/composer.json": `{ "autoload": { "psr-4": { "App\\\\": "src/" } } }`,
      "/php/src/Shop/A.php":
        "<?php\nnamespace App\\Shop;\nuse App\\Store\\Store;\nuse Legacy\\Thing;\nuse Gone\\X;\nrequire __DIR__ . '/../boot.php';\n",
      "/php/src/Store/Store.php": "<?php\nnamespace App\\Store;\nclass Store {}\n",
      "/php/old/thing.inc.php": "<?php\nnamespace Legacy;\nclass Thing {}\n",
      "/php/src/boot.php": "<?php\n",
    },
    expected: [
      "file -> file:/php/src/Store/Store.php",
      "file -> file:/php/old/thing.inc.php",
      "file -> external:Gone\\X",
      "file -> file:/php/src/boot.php",
    ],
  },
];

const CALLS: readonly ResolveCase[] = [
  {
    name: "TypeScript: named, default, aliased and namespace imports",
    from: "/p/a.ts",
    files: {
      "/p/a.ts": `import make, { one as uno, Box } from "./b.js"; import * as b from "./b.js";\nfunction run() { make(); uno(); b.one(); b.inner.deep(); new Box(); Box.from(); b.Box.from(); b.missing(); }`,
      "/p/b.ts": `export default function build() {}\nexport function one() {}\nexport class Box { static from() {} }\nexport namespace inner { export function deep() {} }`,
    },
    expected: [
      "#run -> symbol:/p/b.ts#build",
      "#run -> symbol:/p/b.ts#one",
      "#run -> symbol:/p/b.ts#inner.deep",
      "#run -> symbol:/p/b.ts#Box",
      "#run -> symbol:/p/b.ts#Box.from",
      "#run -> external:missing",
    ],
  },
  {
    name: "TypeScript: through re-exports of index files, with new names, stars and namespaces",
    from: "/p/a.ts",
    files: {
      "/p/a.ts": `import { renamed, starred, ns, def, passed } from "./lib";\nrenamed(); starred(); ns.two(); def(); passed();`,
      "/p/lib/index.ts": `import { passed } from "./two.js";\nexport { one as renamed } from "./one.js"; export * from "./star.js"; export * from "./other.js"; export * as ns from "./two.js"; export { default as def } from "./def.js"; export { passed };`,
      "/p/lib/one.ts": "export function one() {}",
      "/p/lib/star.ts": `export * from "./deep.js";`,
      "/p/lib/deep.ts": "export const starred = () => 1;",
      "/p/lib/other.ts": "export const unrelated = 1;",
      "/p/lib/two.ts": "export function two() {}\nexport function passed() {}",
      "/p/lib/def.ts": "export default () => 1;",
    },
    expected: [
      "file -> symbol:/p/lib/one.ts#one",
      "file -> symbol:/p/lib/deep.ts#starred",
      "file -> symbol:/p/lib/two.ts#two",
      "file -> symbol:/p/lib/def.ts#default",
      "file -> symbol:/p/lib/two.ts#passed",
    ],
  },
  {
    name: "TypeScript: methods of values whose class is certain",
    from: "/p/a.ts",
    files: {
      "/p/a.ts": `import { Hub, openHub, type Port } from "./hub.js";
class App { constructor(private readonly hub: Hub, readonly port?: Port) {} 
  async run(extra: Hub, loose) { this.hub.call(); this.hub.link.send(); this.port?.ask(); extra.base(); loose.call(); const made = await openHub(); made.call(); const hub = new Hub(); hub.call(); let other = new Hub(); other.call(); this.own(); } own() {} }`,
      "/p/hub.ts": `import { Base, Link } from "./base.js";\nexport interface Port { ask(): void }\nexport class Hub extends Base { readonly link = new Link(); call() {} }\nexport async function openHub(): Promise<Hub> { return new Hub(); }`,
      "/p/base.ts": "export class Base { base() {} }\nexport class Link { send() {} }",
    },
    expected: [
      "#App.run -> symbol:/p/hub.ts#Hub.call",
      "#App.run -> symbol:/p/base.ts#Link.send",
      "#App.run -> symbol:/p/hub.ts#Port.ask",
      "#App.run -> symbol:/p/base.ts#Base.base",
      "#App.run -> external:call",
      "#App.run -> symbol:/p/hub.ts#openHub",
      "#App.run -> symbol:/p/hub.ts#Hub",
      "#App.run -> #App.own",
    ],
  },
  {
    name: "TypeScript: a name in another file that is not imported is not guessed",
    from: "/p/a.ts",
    files: {
      "/p/a.ts": "helper();",
      "/p/b.ts": "export function helper() {}",
    },
    expected: ["file -> external:helper"],
  },
  {
    name: "TypeScript: the same name from two stars is not guessed",
    from: "/p/a.ts",
    files: {
      "/p/a.ts": `import { twin } from "./index.js"; twin();`,
      "/p/index.ts": `export * from "./one.js"; export * from "./two.js";`,
      "/p/one.ts": "export function twin() {}",
      "/p/two.ts": "export function twin() {}",
    },
    expected: ["file -> external:twin"],
  },
  {
    name: "TypeScript: a parameter, a variable or a nested function hides an import",
    from: "/p/a.ts",
    files: {
      "/p/a.ts": `import { go } from "./b.js";\nfunction one(go) { go(); }\nfunction two() { const go = pick(); go(); }\nfunction three() { function go() {} go(); }\nfunction four() { go(); }`,
      "/p/b.ts": "export function go() {}",
    },
    expected: [
      "#one -> external:go",
      "#two -> external:pick",
      "#two -> external:go",
      "#three -> #three.go",
      "#four -> symbol:/p/b.ts#go",
    ],
  },
  {
    name: "TypeScript: files that import each other, and re-exports that go in a circle",
    from: "/p/a.ts",
    files: {
      "/p/a.ts": `import { b, none } from "./b.js"; export * from "./b.js"; export function a() { b(); none(); }`,
      "/p/b.ts": `import { a } from "./a.js"; export * from "./a.js"; export function b() { a(); }`,
    },
    expected: ["#a -> symbol:/p/b.ts#b", "#a -> external:none"],
  },
  {
    name: "TypeScript: packages that are not stored are kept with the name of what is called",
    from: "/p/a.ts",
    files: {
      "/p/a.ts": `import fs, { readFile as read } from "node:fs/promises"; import * as path from "node:path"; import { z } from "zod";\nread("x"); fs.writeFile("y"); path.join("a"); z.object({}).strict(); JSON.parse("1"); [].map(String);`,
    },
    expected: [
      "file -> external:node:fs/promises#readFile",
      "file -> external:node:fs/promises#default.writeFile",
      "file -> external:node:path#join",
      "file -> external:zod#z.object.strict",
      "file -> external:zod#z.object",
      "file -> external:JSON.parse",
      "file -> external:map",
    ],
  },
  {
    name: "JavaScript: CommonJS in both directions",
    from: "/p/a.js",
    files: {
      "/p/a.js": `const { one, two: zwei } = require("./b"); const b = require("./b"); const Klass = require("./klass"); const lib = require("./lib"); const call = require("./call"); const Plain = require("./plain");\none(); zwei(); b.three(); new Klass(); Klass.make(); lib.named(); call(); new Plain().go();`,
      "/p/b.js": `function one() {}\nconst helper = () => 1;\nmodule.exports = { one, two: helper };\nmodule.exports.three = function () {};`,
      "/p/klass.js": `class Klass { static make() {} }\nmodule.exports = Klass;`,
      "/p/lib/index.js": "exports.named = named; function named() {}",
      "/p/call.js": "module.exports = function () { inside(); };\nfunction inside() {}",
      "/p/plain.js": "module.exports = class { go() {} };",
    },
    expected: [
      "file -> symbol:/p/b.js#one",
      "file -> symbol:/p/b.js#helper",
      "file -> symbol:/p/b.js#three",
      "file -> symbol:/p/klass.js#Klass",
      "file -> symbol:/p/klass.js#Klass.make",
      "file -> symbol:/p/lib/index.js#named",
      "file -> symbol:/p/call.js#default",
      "file -> symbol:/p/plain.js#default.go",
      "file -> symbol:/p/plain.js#default",
    ],
  },
  {
    name: "Python: names, aliases, modules, re-exports of packages, stars, classes and instances",
    from: "/p/app.py",
    files: {
      "/p/shop/__init__.py": "from .store import Store, open_store as connect\nfrom .prices import *\n",
      "/p/shop/store.py":
        "class Base:\n    def close(self): pass\n\nclass Store(Base):\n    def put(self): pass\n    @classmethod\n    def make(cls): return cls()\n\ndef open_store() -> Store:\n    return Store()\n",
      "/p/shop/prices.py": "def tax(): pass\n",
      "/p/shop/audit/trail.py": "def record(): pass\n",
      "/p/app.py": `import shop
import shop.audit.trail
import shop.audit.trail as trail
from shop import Store as S, connect, tax, prices
from shop.audit import trail as t

def run(store: S):
    connect()
    tax()
    prices.tax()
    shop.connect()
    shop.audit.trail.record()
    trail.record()
    t.record()
    S.make()
    store.put()
    mine = connect()
    mine.close()
    changing = S()
    changing = 1
    changing.put()
    unknown()
`,
    },
    expected: [
      "#run -> symbol:/p/shop/store.py#open_store",
      "#run -> symbol:/p/shop/prices.py#tax",
      "#run -> symbol:/p/shop/audit/trail.py#record",
      "#run -> symbol:/p/shop/store.py#Store.make",
      "#run -> symbol:/p/shop/store.py#Store.put",
      "#run -> symbol:/p/shop/store.py#Base.close",
      "#run -> symbol:/p/shop/store.py#Store",
      "#run -> external:put",
      "#run -> external:unknown",
    ],
  },
  {
    name: "Python: self, properties set in __init__, and super across files",
    from: "/p/b.py",
    files: {
      "/p/a.py":
        "class A:\n    def save(self): pass\n    def other(self): pass\n\nclass Link:\n    def send(self): pass\n",
      "/p/b.py":
        "from a import A, Link\n\nclass B(A):\n    def __init__(self, given: Link):\n        self.made = Link()\n        self.given = given\n\n    def save(self):\n        super().save()\n        self.other()\n        self.made.send()\n        self.given.send()\n        self.nothing()\n",
    },
    expected: [
      "#B.__init__ -> symbol:/p/a.py#Link",
      "#B.save -> symbol:/p/a.py#A.save",
      "#B.save -> symbol:/p/a.py#A.other",
      "#B.save -> symbol:/p/a.py#Link.send",
      "#B.save -> external:nothing",
    ],
  },
  {
    name: "Go: functions and methods of the same package and of imported ones",
    from: "/g/cmd/main.go",
    files: {
      "/g/go.mod": "module example.com/g\n",
      "/g/store/store.go":
        "package store\ntype Base struct{}\nfunc (b *Base) Close() {}\ntype Store struct { Base }\nfunc Open() (*Store, error) { return nil, nil }\n",
      "/g/store/put.go": "package store\nfunc (s *Store) Put() { s.check() }\nfunc (s *Store) check() {}\n",
      "/g/cmd/help.go": "package main\nfunc help() {}\n",
      "/g/cmd/help_windows.go": "package main\nfunc twin() {}\n",
      "/g/cmd/help_linux.go": "package main\nfunc twin() {}\n",
      "/g/cmd/main_test.go": "package main\nfunc onlyInTests() {}\n",
      "/g/cmd/main.go": `package main
import "example.com/g/store"
type App struct { db *store.Store }
func (a *App) Run() { a.db.Put(); a.db.Close() }
func main() {
	s, err := store.Open()
	s.Put()
	help()
	twin()
	onlyInTests()
	store.Gone()
	app := &App{db: s}
	app.Run()
	_ = err
}
`,
    },
    expected: [
      "#App.Run -> symbol:/g/store/put.go#Store.Put",
      "#App.Run -> symbol:/g/store/store.go#Base.Close",
      "#main -> symbol:/g/store/store.go#Open",
      "#main -> symbol:/g/store/put.go#Store.Put",
      "#main -> symbol:/g/cmd/help.go#help",
      "#main -> external:twin",
      "#main -> external:onlyInTests",
      "#main -> external:Gone",
      "#main -> #App.Run",
    ],
  },
];

const OTHERS: readonly ResolveCase[] = [
  {
    name: "Go: a method in another file than its type belongs to the type",
    from: "/g/put.go",
    relation: "CONTAINS",
    files: {
      "/g/go.mod": "module g\n",
      "/g/store.go": "package g\ntype Store struct{}\n",
      "/g/put.go": "package g\nfunc (s *Store) Put() {}\nfunc (s *Gone) Put() {}\n",
    },
    expected: ["symbol:/g/store.go#Store -> #Store.Put"],
  },
  {
    name: "TypeScript: bases and interfaces in other files",
    from: "/p/a.ts",
    relation: "INHERITS",
    files: {
      "/p/a.ts": `import { Base } from "./b.js"; import * as b from "./b.js"; import { EventEmitter } from "node:events";\nclass A extends Base {} class B extends b.Base {} class C extends EventEmitter {} class D extends Other {}`,
      "/p/b.ts": "export class Base {}",
      "/p/c.ts": "export class Other {}",
    },
    expected: [
      "#A -> symbol:/p/b.ts#Base",
      "#B -> symbol:/p/b.ts#Base",
      "#C -> external:node:events#EventEmitter",
      "#D -> external:Other",
    ],
  },
  {
    name: "Java: a base class of the same package, and an imported one",
    from: "/j/a/A.java",
    relation: "INHERITS",
    files: {
      "/j/a/A.java": "package a; import b.Far; class A extends Near {} class C extends Far {} class D extends Gone {}",
      "/j/a/Near.java": "package a; class Near {}",
      "/j/b/Far.java": "package b; public class Far {}",
      "/j/c/Gone.java": "package c; public class Gone {}",
    },
    expected: ["#A -> symbol:/j/a/Near.java#Near", "#C -> symbol:/j/b/Far.java#Far", "#D -> external:Gone"],
  },
  {
    name: "C#: a base class of a used namespace",
    from: "/n/A.cs",
    relation: "INHERITS",
    files: {
      "/n/A.cs": "using Shop.Store;\nnamespace Shop { class A : Document {} class B : Missing {} }",
      "/n/Document.cs": "namespace Shop.Store { public class Document {} }",
    },
    expected: ["#Shop.A -> symbol:/n/Document.cs#Shop.Store.Document", "#Shop.B -> external:Missing"],
  },
  {
    name: "PHP: a base class of the same namespace, and an imported one",
    from: "/php/A.php",
    relation: "INHERITS",
    files: {
      "/php/A.php": "<?php\nnamespace App;\nuse Lib\\Far;\nclass A extends Near {}\nclass B extends Far {}\n",
      "/php/Near.php": "<?php\nnamespace App;\nclass Near {}\n",
      "/php/Far.php": "<?php\nnamespace Lib;\nclass Far {}\n",
      "/php/Other.php": "<?php\nnamespace Other;\nclass Near {}\n",
    },
    expected: ["#A -> symbol:/php/Near.php#Near", "#B -> symbol:/php/Far.php#Far"],
  },
  {
    name: "C++: a base class from an included header",
    from: "/c/a.cpp",
    relation: "INHERITS",
    files: {
      "/c/a.cpp": '#include "base.hpp"\nclass A : public Base {};\nclass B : public Gone {};\n',
      "/c/base.hpp": "class Base {};\n",
      "/c/gone.hpp": "class Gone {};\n",
    },
    expected: ["#A -> symbol:/c/base.hpp#Base", "#B -> external:Gone"],
  },
];

describe("imports resolve to the stored file", () => {
  it.each(IMPORTS)("$name", async ({ files, from, expected }) => {
    expect(resolvedLines(await graphOf(files), from, "IMPORTS")).toEqual(expected);
  });
});

describe("calls resolve across files", () => {
  it.each(CALLS)("$name", async ({ files, from, expected }) => {
    expect(resolvedLines(await graphOf(files), from, "CALLS")).toEqual(expected);
  });
});

describe("members and bases resolve across files", () => {
  it.each(OTHERS)("$name", async ({ files, from, relation = "CALLS", expected }) => {
    expect(resolvedLines(await graphOf(files), from, relation)).toEqual(expected);
  });
});
