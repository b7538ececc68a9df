/**
 * Runs README.md and the documents that continue it, as `walk.ts` says. The machines of the build farm boot the small Linux of the tests,
 * which has a guest agent.
 */
import { readFileSync } from 'node:fs'
import { getSmallLinux } from '../test/support/guests/linux.ts'
import { walkThrough } from './walk.ts'

const [readme = ''] = readFileSync('README.md', 'utf8').split('\n## Development\n')
/** In the order in which they are run: a page may use what the pages before it have made. */
const pages = [
  'first-machine',
  'people-and-rights',
  'requests',
  'events',
  'jobs',
  'ssh',
  'catalog',
  'remote-catalogs',
  'store',
  'configuration',
].map(name => readFileSync(`docs/${name}.md`, 'utf8'))

// npm's format.
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly scripts: object }
const undeclared = [...readFileSync('CONTRIBUTING.md', 'utf8').matchAll(/^npm (?:run )?([\w:]+)/gm)]
  .map(match => match[1]!)
  .filter(name => !(name in scripts))
  .map(name => `npm run ${name} is not a script`)

const { kernel, initrd, cmdline } = getSmallLinux()
/** What a reader of the page has done before: the files of the guest are where paths of the host may lead. */
const guest = `
\`\`\`sh
cp '${kernel}' '${initrd}' "$STATE/attach/"
BOOT="\\"kernel\\":\\"$STATE/attach/vmlinux\\",\\"initrd\\":\\"$STATE/attach/initrd\\",\\"cmdline\\":\\"${cmdline}\\""
\`\`\`
`
const { blocks, mistakes } = await walkThrough(
  [readme, ...pages, guest, readFileSync('docs/build-farm.md', 'utf8')].join('\n'),
  {
    timeout: 300_000,
  },
)
for (const mistake of [...mistakes, ...undeclared]) console.error(mistake)
if (mistakes.length + undeclared.length > 0) process.exitCode = 1
else console.log(`README and documents: ${blocks} blocks of commands ran and printed what they say`)
