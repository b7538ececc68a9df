import { execFileSync } from 'node:child_process'

/** The interfaces of the host whose aliases have this text. */
export const listInterfacesWith = (text: string): readonly string[] =>
  JSON.parse(execFileSync('ip', ['-json', 'link', 'show'], { encoding: 'utf8' })).flatMap(
    ({ ifname, ifalias = '' }: { ifname: string; ifalias?: string }) => (ifalias.includes(text) ? [ifname] : []),
  )

/** The names of the tables of the firewall. */
export const listTables = (): string => execFileSync('nft', ['list', 'tables'], { encoding: 'utf8' })

/** A bridge of the host for one test. */
export const makeBridge = (): { readonly name: string } & Disposable => {
  const name = `vht${process.pid % 100_000}br`
  execFileSync('ip', ['link', 'add', name, 'type', 'bridge', 'forward_delay', '0'])
  execFileSync('ip', ['address', 'add', '198.19.77.1/24', 'dev', name])
  execFileSync('ip', ['link', 'set', name, 'up'])
  return { name, [Symbol.dispose]: () => void execFileSync('ip', ['link', 'delete', name]) }
}
