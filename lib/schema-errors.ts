import * as z from 'zod'
import { joinWords } from './join-words.ts'

/** What a value can have to be, by the library's name for it. */
const kinds: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  stringbool: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'an object in braces',
  record: 'an object in braces',
}

const formats: Readonly<Record<string, string>> = {
  email: 'an e-mail address',
  url: 'an address such as https://host.example.org',
  uuid: 'a UUID',
  datetime: 'a time of RFC 3339',
  base64: 'base64',
}

const mustBe = (what: string | undefined): string => (what === undefined ? 'is not valid' : `must be ${what}`)

/** Things that a text or a list has; of a number none. */
const counted = (origin: string): string | undefined =>
  origin === 'string' ? 'characters' : origin === 'array' ? 'entries' : undefined

/** All that a value may be which is none of several kinds, where that can be said in one breath; else what the last asks for. */
const noneOf = (wrong: readonly (readonly z.core.$ZodIssue[])[]): string => {
  const reasons = [...new Set(wrong.flatMap(issues => issues[0]?.message ?? []))]
  const kinds = reasons.flatMap(reason => /^must be (.+)$/.exec(reason)?.[1] ?? [])
  return kinds.length === reasons.length && kinds.length > 0
    ? mustBe(joinWords(kinds, 'or'))
    : (reasons.at(-1) ?? mustBe(undefined))
}

const describe: z.core.$ZodErrorMap = issue => {
  if (issue.input === undefined && issue.code !== 'custom') return 'is missing'
  switch (issue.code) {
    case 'invalid_type':
      return mustBe(kinds[issue.expected])
    case 'invalid_value':
      return mustBe('expected' in issue ? kinds[String(issue['expected'])] : joinWords(issue.values.map(String), 'or'))
    case 'too_small': {
      const what = counted(issue.origin)
      if (!what) return `must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`
      return issue.minimum === 1 ? 'must not be empty' : `must have at least ${issue.minimum} ${what}`
    }
    case 'too_big': {
      const what = counted(issue.origin)
      if (!what) return `must be ${issue.inclusive ? 'at most' : 'less than'} ${issue.maximum}`
      return `must ${what === 'characters' ? 'not be longer' : 'not have more'} than ${issue.maximum} ${what}`
    }
    case 'invalid_format':
      return mustBe(formats[issue.format])
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'unrecognized_keys':
      return `has members that are not known here: ${issue.keys.join(', ')}`
    case 'invalid_union':
      return noneOf(issue.errors)
    default:
      return mustBe(undefined)
  }
}

// Of the whole program: where a schema has no words of its own, nobody reads those of the library.
z.config({ customError: describe })

/** What is wrong first with a value that its schema has refused, and where: for messages. It tells nothing of the value. */
export const firstMistake = ({ issues: [issue] }: z.ZodError): string =>
  [issue?.path.join('.'), issue?.message].filter(Boolean).join(' ')
