/** House rules that no lint rule says: what the sources must not do, and that what the documents name is there. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { describeLayout, findLayoutFaults } from './boundaries.ts'
import { dependencyReasons } from './dependency-reasons.ts'

interface Rule {
  readonly files: string
  readonly except?: RegExp
  readonly pattern: RegExp
  readonly why: string
}

const rules: readonly Rule[] = [
  {
    files: '{lib,functions,build,test}/**/*.ts',
    pattern: /import \{[^}]*\bz\b[^}]*\} from 'zod'/,
    why: "import * as z from 'zod': the named import keeps every language's texts in the bundle",
  },
  {
    files: '{lib,functions}/**/*.ts',
    except: /^lib\/platform\/|^lib\/hypervisor\/qemu\/accelerator\.ts$/,
    pattern: /\brm(Sync)?\([^)]*recursive/,
    why: 'recursive deletion is lib/platform/files.ts alone: removeTree',
  },
  {
    files: '{lib,functions}/**/*.ts',
    except: /^lib\/(entry|compose)\/|^lib\/hypervisor\/qemu\/programs\.ts$/,
    pattern: /\bprocess\.env\b/,
    why: 'the environment is read by lib/entry and lib/compose/config.ts; hand settings in',
  },
  {
    files: 'functions/*/*.ts',
    pattern: /from '(node:|#lib\/(storage|hypervisor|platform)\/)/,
    why: 'an endpoint reaches the host through its services only',
  },
  {
    files: 'test/**/*.ts',
    // There a clock is set.
    except: /^test\/bench\/|\/lockout\.test\.ts$/,
    pattern: /(?:\b(?:wait|sleep|pause|delay)\(|setTimeout\(.*, )(?:[3-9]\d\d|\d[\d_]{3,})\)/,
    why: 'no test sleeps for more than 200 ms: it waits for a condition with until of test/support/waiting.ts',
  },
  {
    files: 'test/**/*.ts',
    except: /^test\/bench\//,
    pattern: /\bvi\.waitFor\(|\bvi\.waitUntil\(|expect\s*\.poll\([^;]*timeout:/,
    why: 'a wait of its own limit fails under load: until of test/support/waiting.ts waits long enough',
  },
  {
    files: 'test/**/*.ts',
    except: /^test\/(bench|full)\//,
    pattern: /performance\.now\(\)|expect\(Date\.now\(\) - /,
    why: 'no test asserts how long something took: that is for test/bench',
  },
]

const broken = rules.flatMap(({ files, except, pattern, why }) =>
  globSync(files)
    .filter(file => !except?.test(file) && !file.endsWith('build/checks.ts'))
    .filter(file => pattern.test(readFileSync(file, 'utf8')))
    .map(file => `${file}: ${why}`),
)

/** Paths of this repository that documents name in code quotes: what begins with one of its folders. */
const named = /`((?:lib|functions|build|test|\.ci)\/[\w./-]+)`/g
const missing = globSync('{*,docs/*,docs/examples/*/*}.md').flatMap(document =>
  [...readFileSync(document, 'utf8').matchAll(named)]
    .map(match => match[1]!)
    .filter(path => !existsSync(path))
    .map(path => `${document} names ${path}, which is not there`),
)

/** Packages that the program imports, by their names: all of them are in the bundle, so each needs a reason. */
const imported = new Set(
  globSync('{lib,functions}/**/*.ts').flatMap(file =>
    [...readFileSync(file, 'utf8').matchAll(/(?:^(?:import|export|\}).* from |^import |\bimport\()'([^']+)'/gm)]
      .map(match => match[1]!)
      .filter(from => !/^(\.|#|node:|cloudflare:)/.test(from))
      .map(from => /^(@[^/]+\/)?[^/]+/.exec(from)![0]),
  ),
)
const listed = readFileSync('docs/dependencies.md', 'utf8')
// npm's format.
const versions = (JSON.parse(readFileSync('package.json', 'utf8')) as { devDependencies: Record<string, string> })
  .devDependencies
const unexplained = [
  ...[...imported]
    .filter(name => !(name in dependencyReasons))
    .map(name => `build/dependency-reasons.ts does not say why ${name} is bundled`),
  ...Object.keys(dependencyReasons)
    .filter(name => !imported.has(name))
    .map(name => `build/dependency-reasons.ts has a reason for ${name}, which nothing imports`),
  ...Object.keys(dependencyReasons)
    .filter(name => !new RegExp(`^\\| +\`${name}\` +\\| +${versions[name]} `, 'm').test(listed))
    .map(name => `docs/dependencies.md does not have ${name} ${versions[name]}: npm run dependencies`),
]

for (const line of describeLayout()) console.log(line)
const findings = [...broken, ...missing, ...unexplained, ...findLayoutFaults()]
for (const finding of findings) console.error(finding)
if (findings.length > 0) process.exit(1)
