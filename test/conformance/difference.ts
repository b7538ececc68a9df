import type { Case, Difference, Part, RuntimeName } from './case.ts'

/** A reply with what each run makes up masked. */
export interface MaskedReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Headers of the connection, which belong to the transport and not to the reply. */
const transportHeaders = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'mf-content-encoding',
  'transfer-encoding',
])

export const isTransportHeader = (name: string): boolean => transportHeaders.has(name)

interface GeneralDifference extends Difference {
  /** The replies that it is about. */
  readonly of: (one: Case, reply: MaskedReply) => boolean
}

/** Differences that are not of one case but of a kind of reply. Each has its reason. */
export const generalDifferences: Readonly<Record<RuntimeName, readonly GeneralDifference[]>> = {
  node: [],
  executable: [],
  workerd: [
    {
      reason:
        'the platform serves the edge over TLS only, so every reply forbids plain HTTP; Node here serves plain HTTP',
      parts: ['header strict-transport-security'],
      of: () => true,
    },
    {
      reason: 'workerd removes Upgrade, a header of the connection, from replies that do not switch protocols',
      parts: ['header upgrade'],
      of: (_, { status }) => status === 426,
    },
  ],
}

const listParts = (expected: MaskedReply, actual: MaskedReply): Part[] => {
  const names = new Set([...Object.keys(expected.headers), ...Object.keys(actual.headers)])
  const headers = [...names].filter(name => expected.headers[name] !== actual.headers[name]).sort()
  return [
    ...(expected.status === actual.status ? [] : (['status'] as const)),
    ...headers.map(name => `header ${name}` as const),
    ...(expected.body === actual.body ? [] : (['body'] as const)),
  ]
}

/** The declared differences that a reply of a runtime may have. */
const findDeclared = (runtime: RuntimeName, one: Case, reply: MaskedReply): readonly Difference[] => {
  const own = runtime === 'node' ? undefined : one.differs?.[runtime]
  return [...(own ? [own] : []), ...generalDifferences[runtime].filter(({ of }) => of(one, reply))]
}

const around = (text: string, other: string): string => {
  const first = [...text].findIndex((character, at) => character !== other[at])
  const start = Math.max(0, (first < 0 ? Math.min(text.length, other.length) : first) - 60)
  return text.slice(start, start + 200)
}

const describePart = (part: Part, expected: MaskedReply, actual: MaskedReply): string => {
  if (part === 'status') return `status ${actual.status}, on Node ${expected.status}`
  if (part === 'body')
    return `body …${around(actual.body, expected.body)}…, on Node …${around(expected.body, actual.body)}…`
  const name = part.slice('header '.length)
  return `${part} ${actual.headers[name]}, on Node ${expected.headers[name]}`
}

/** What of the replies to a case differs from those of Node and is not declared. */
export const compareReplies = (
  runtime: RuntimeName,
  one: Case,
  expected: readonly MaskedReply[],
  actual: readonly MaskedReply[],
): readonly string[] =>
  actual.flatMap((reply, at) => {
    const wanted = expected[at]
    if (!wanted) return [`Node gave no reply ${at}`]
    const declared = new Set(findDeclared(runtime, one, reply).flatMap(({ parts }) => parts))
    return listParts(wanted, reply)
      .filter(part => !declared.has(part))
      .map(part => `reply ${at}: ${describePart(part, wanted, reply)}`)
  })
