import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { newFolder } from '../support/folder.ts'

test('npm run edge serves the built edge, says where, and how to sign in', async () => {
  using folder = newFolder()
  const { VMHOST_ROOT_PASSWORD: _, ...environment } = process.env
  const child = spawn(
    process.execPath,
    ['build/serve-edge.ts', '--address', '127.0.0.1:0', '--folder', `${folder.path}/state`],
    { env: environment, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const ended = new Promise<number | null>(settle => child.once('exit', settle))
  let told = ''
  for await (const line of createInterface(child.stdout)) {
    told += `${line}\n`
    if (line.includes('/v1/auth/token')) break
  }
  const [, url] = /served at (http:\S+),/.exec(told)!
  const [, password] = /the password (\S+) /.exec(told)!
  // No client can say that it is another one.
  const headers = { 'CF-Connecting-IP': '192.0.2.66' }
  const signIn = (text: string) =>
    fetch(`${url}/api/v1/auth/token`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ email: 'root', password: text }),
    })
  expect(await signIn('wrong')).toMatchObject({ status: 401 })
  const signedIn = await signIn(password!)
  expect(signedIn.status).toBe(200)
  const { token } = (await signedIn.json()) as { token: string }
  const audit = await fetch(`${url}/api/v1/audit`, { headers: { Authorization: `Bearer ${token}` } })
  const { entries } = (await audit.json()) as { entries: readonly { readonly address: string }[] }
  expect(entries.map(({ address }) => address)).toEqual(entries.map(() => ''))
  expect(entries.length).toBeGreaterThan(0)
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
})
