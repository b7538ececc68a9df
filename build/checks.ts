/** House rules that no lint rule says: what the sources must not do, and that what the documents name is there. */
import { existsSync, globSync, readFileSync } from 'node:fs'

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
    except: /^lib\/entry\/|^lib\/settings\.ts$|^lib\/hypervisor\/qemu\/programs\.ts$/,
    pattern: /\bprocess\.env\b/,
    why: 'the environment is read by lib/entry and lib/config.ts; hand settings in',
  },
  {
    files: 'functions/*/*.ts',
    pattern: /from '(node:|#lib\/(storage|hypervisor|platform)\/)/,
    why: 'an endpoint reaches the host through its services only',
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
const missing = globSync('*.md').flatMap(document =>
  [...readFileSync(document, 'utf8').matchAll(named)]
    .map(match => match[1]!)
    .filter(path => !existsSync(path))
    .map(path => `${document} names ${path}, which is not there`),
)

const findings = [...broken, ...missing]
for (const finding of findings) console.error(finding)
if (findings.length > 0) process.exit(1)
