/**
 * Commits to a store while the disk fails, and prints what came of each commit as JSON. Run by `runWithFaults`.
 * Arguments: the folder of the store, the file of faults, what fails, a password where it is encrypted.
 */
import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { openKept } from '../kept-store.ts'

const [folder = '', faults = '', fault = '', password] = process.argv.slice(2)
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const seal = password === undefined ? undefined : { password, privateKey, cost: 16 }

const { store, items, log } = await openKept(folder, seal)
const commit = (id: string, value = 'v'): Promise<string> =>
  store
    .commit([items.put({ id, value }), log.append(() => ({ text: id }))])
    .then(() => 'done')
    .catch((error: { fault: string }) => error.fault)

const before = await commit('before')
writeFileSync(faults, fault)
const during = await Promise.all([commit('during'), commit('beside')])
const { failure } = store
const seen = (await items.list()).map(({ id }) => id)
writeFileSync(faults, '')
const after = await commit('after')
const head = log.head()
await store[Symbol.asyncDispose]()
const again = await openKept(folder, seal)
const kept = (await again.items.list()).map(({ id }) => id)
console.log(JSON.stringify({ before, during, failure, seen, after, head, kept, entries: again.log.head() }))
await again.store[Symbol.asyncDispose]()
