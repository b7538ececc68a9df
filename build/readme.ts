/**
 * Runs README.md, and then docs/build-farm.md, as `walk.ts` says. The machines of the farm boot the small Linux of the tests, which has a
 * guest agent.
 */
import { readFileSync } from 'node:fs'
import { getSmallLinux } from '../test/support/guests/linux.ts'
import { walkThrough } from './walk.ts'

const readme = readFileSync('README.md', 'utf8')
const [forUsers = '', forDevelopers = ''] = readme.split('\n## Development\n')

// npm's format.
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly scripts: object }
const undeclared = [...forDevelopers.matchAll(/^npm (?:run )?([\w:]+)/gm)]
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
const { blocks, mistakes } = await walkThrough(forUsers + guest + readFileSync('docs/build-farm.md', 'utf8'), {
  timeout: 300_000,
})
for (const mistake of [...mistakes, ...undeclared]) console.error(mistake)
if (mistakes.length + undeclared.length > 0) process.exitCode = 1
else console.log(`README: ${blocks} blocks of commands ran and printed what it says`)
