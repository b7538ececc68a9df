import { expect, test } from 'vitest'
import { scrub } from '#lib/report/scrub.ts'

const secret = 'aB3-dE5_gH7iJ9kL1mN'

test.for([
  ['a header', `Authorization: Bearer ${secret}`],
  ['a header in JSON', JSON.stringify({ headers: { authorization: `Basic ${secret}` } })],
  ['a member', JSON.stringify({ new_password: secret, next: 1 })],
  ['a member in JSON in JSON', JSON.stringify({ body: JSON.stringify({ storage_password: secret, next: 1 }) })],
  ['a value with spaces', JSON.stringify({ password: `${secret} with a space` })],
  ['a value with quotes', JSON.stringify({ password: `x" y ${secret}`, next: 1 })],
  ['a value with quotes in JSON in JSON', JSON.stringify({ a: JSON.stringify({ password: `x" ${secret}` }) })],
  ['a variable', `VMHOST_STORAGE_PASSWORD=${secret}`],
  ['a number', `the password: 7${secret}`],
  ['a parameter', `/api/v1/ws/subscribe?access_token=${secret}&page=1`],
  ['a signed URL', `https://bucket.example/pack?X-Amz-Signature=${secret}&X-Amz-Date=1`],
  ['a shared access signature', `https://account.example/pack?sv=1&sig=${secret}`],
  ['a URL with credentials', `https://root:${secret}@catalog.example:8443`],
  ['a connection', `host=root:${secret}@https://catalog.example`],
  ['a connection with an API key', `host=${secret}@https://catalog.example`],
  ['members of a connection', `provider=aws-s3;access_key=x;secret_key=${secret};region=y`],
  ['a key', `-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----`],
  ['half a key', `-----BEGIN PRIVATE KEY-----\n${secret}\n`],
  ['a token alone', `eyJhbGciOi.eyJzdWIiOi.${secret}`],
  ['a random text alone', `it was ${secret}Zz09 there`],
  ['the password of the first start', `The password of root is ${secret}`],
  ['a link with a secret', `https://localhost:8443/#first-access=${secret}`],
] as const)('%s is removed', ([, text]) => {
  expect(scrub(text)).not.toContain(secret.slice(0, 8))
  expect(scrub(text)).toContain('[removed]')
})

test('a known secret is removed wherever it stands, in each of its forms', () => {
  const known = 'pass "word" of 9 & more'
  const text = `${known} ${JSON.stringify({ a: known })} ?x=${encodeURIComponent(known)}`
  expect(scrub(text, [known, 'pass'])).toBe('[removed] {"a":"[removed]"} ?x=[removed]')
})

test('what says what happened stays', () => {
  const line = JSON.stringify({
    '@timestamp': '2026-01-02T03:04:05.678Z',
    level: 'WARN',
    message: 'The pack of demo 1 x86_64 was not found in /var/lib/vmhost/catalog: 404',
    properties: {
      id: '0190b0f2-7c1d-4a5e-9f00-00000000abcd',
      operation: 'auth/sign-in',
      password_min_length: 12,
      sha256: 'a'.repeat(40) + '0123456789abcdef01234567',
    },
  })
  expect(scrub(line)).toBe(line)
})
