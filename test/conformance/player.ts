import { until } from '../support/waiting.ts'
import type { Area, Ask, Case, Effect } from './case.ts'
import { type MaskedReply, isTransportHeader } from './difference.ts'
import { findMismatches, mapTexts } from './expectation.ts'
import { createMask, toComparedBody } from './mask.ts'
import { rootPassword, type Running } from './runtimes/runtime.ts'
import { createWire, type Reply } from './wire.ts'

type Credential = Readonly<Record<string, string>>

/** The value of a reply; a text that is neither an object nor a list is taken as it is. */
const parse = (text: string): unknown => (/^[[{]/.test(text) ? JSON.parse(text) : text)

const pick = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, name) => {
    const members = typeof inner === 'object' && inner !== null ? new Map(Object.entries(inner)) : undefined
    return members?.get(name)
  }, value)

/** Plays the cases of an area against one running service, in order. */
export const createPlayer = async (
  area: Area,
  running: Running,
  surroundings: { readonly values: Readonly<Record<string, string>>; readonly known: Readonly<Record<string, string>> },
) => {
  const wire = createWire(running)
  const values = new Map<string, string>(Object.entries({ rootPassword, ...surroundings.values }))
  const mask = createMask({ ...surroundings.known, ...running.known })
  const credentials = new Map<string, Credential>([['anonymous', {}]])

  const fill = (text: string): string =>
    text.replace(/\{([a-z]\w*)\}/gi, (whole, name: string) => values.get(name) ?? whole)
  const send = (as: string, request: Ask): Promise<Reply> => {
    const credential = credentials.get(as)
    if (!credential) throw new Error(`${area.name} has no person ${as}`)
    const [method, path, body, headers = {}] = request
    const filled = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)]))
    return wire.ask([method, fill(path), mapTexts(body, fill), filled], credential)
  }
  const prepare = async (request: Ask): Promise<unknown> => {
    const { status, body } = await send('root', request)
    if (status >= 300) throw new Error(`${request.slice(0, 2).join(' ')} gave ${status}: ${body}`)
    return parse(body)
  }

  const toMasked = ([, path]: Ask, { status, headers, body }: Reply): MaskedReply => ({
    status,
    headers: Object.fromEntries(
      Object.entries(headers)
        .filter(([name]) => !isTransportHeader(name))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, value]) => [name, mask.header(name, value)]),
    ),
    body: mask.text(toComparedBody(path, body)),
  })
  const findFaults = (
    reply: Reply,
    wanted: { readonly status: number; readonly reply?: unknown; readonly headers?: unknown },
  ): string[] => [
    ...(reply.status === wanted.status ? [] : [`status ${reply.status}, not ${wanted.status}: ${reply.body}`]),
    ...(wanted.reply === undefined ? [] : findMismatches(mapTexts(wanted.reply, fill), parse(reply.body))),
    ...(wanted.headers === undefined ? [] : findMismatches(mapTexts(wanted.headers, fill), reply.headers, 'headers')),
  ]
  const save = ({ saves = {} }: Case, reply: Reply): void => {
    for (const [name, path] of Object.entries(saves)) {
      const found = path.startsWith('header ') ? reply.headers[path.slice(7)] : pick(parse(reply.body), path)
      if (typeof found !== 'string' && typeof found !== 'number') throw new Error(`the reply has no ${path} to save`)
      values.set(name, String(found))
      mask.addName(String(found), name)
    }
  }
  const look = async ({ as = 'root', request, status = 200, reply, eventually }: Effect) => {
    const ask = async (): Promise<{ seen: Reply; faults: string[] }> => {
      const seen = await send(as, request)
      const faults = findFaults(seen, { status, reply })
      return { seen, faults: faults.map(fault => `afterwards, ${request.slice(0, 2).join(' ')}: ${fault}`) }
    }
    if (!eventually) return ask()
    return until(async () => {
      const answer = await ask()
      if (answer.faults.length > 0) throw new Error(answer.faults.join('\n'))
      return answer
    })
  }

  const signedIn = await wire.ask(['POST', '/v1/auth/token', { email: 'root', password: rootPassword }], {})
  if (signedIn.status !== 200) throw new Error(`root cannot sign in: ${signedIn.status} ${signedIn.body}`)
  credentials.set('root', { authorization: `Bearer ${String(pick(parse(signedIn.body), 'token'))}` })
  for (const [username, { claims = [], roles = [] }] of Object.entries(area.people ?? {})) {
    const user = { username, name: username, email: `${username}@example.org`, claims, roles }
    const id = String(pick(await prepare(['POST', '/v1/auth/users', user]), 'id'))
    values.set(`${username}Id`, id)
    mask.addName(id, `${username}Id`)
    const key = await prepare(['POST', '/v1/auth/api_keys', { name: username, user_id: username }])
    credentials.set(username, { 'x-api-key': String(pick(key, 'encoded')) })
  }

  return {
    /** Sends a case's request and looks at its effects. Gives what was not as expected, and the replies without made-up texts. */
    async play(one: Case): Promise<{ readonly faults: readonly string[]; readonly replies: readonly MaskedReply[] }> {
      mask.beginCase()
      const reply = await send(one.as ?? 'root', one.request)
      const faults = findFaults(reply, one)
      if (faults.length === 0) save(one, reply)
      const replies = [toMasked(one.request, reply)]
      for (const effect of faults.length === 0 ? (one.effects ?? []) : []) {
        const { seen, faults: found } = await look(effect)
        if (effect.varies === undefined) replies.push(toMasked(effect.request, seen))
        faults.push(...found)
      }
      return { faults, replies }
    },
    [Symbol.dispose]: () => wire[Symbol.dispose](),
  }
}

export type Player = Awaited<ReturnType<typeof createPlayer>>
