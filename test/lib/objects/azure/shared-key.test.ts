import { expect, test } from 'vitest'
import { createAuthorization } from '#lib/objects/azure/shared-key.ts'

const sharedKey = { account: 'packaccount', key: Buffer.from('the key of the account').toString('base64') }
const base = 'https://packaccount.blob.core.windows.net/packs'
const common = { Accept: 'application/xml', 'x-ms-version': '2026-10-06', 'x-ms-date': 'Sat, 21 Nov 2026 09:00:00 GMT' }

/** Requests and signatures of @azure/storage-blob 12.34.0, Microsoft's own client. */
test.each([
  [
    'the properties of a blob whose name has special characters',
    'HEAD',
    `${base}/gr%C3%B6%C3%9Fe%20%2B%2520%26%3D/it%27s%20(1)!*.meta`,
    0,
    { 'x-ms-client-request-id': 'b4356895-4e17-4e38-85af-1e74787984e8' },
    'SharedKey packaccount:2fjvwuGF5rMySTgAxaxtxOwRM2VNkKLf4s2GlZzodYU=',
  ],
  [
    'a range of a blob',
    'GET',
    `${base}/a`,
    0,
    { 'x-ms-range': 'bytes=5-14', 'x-ms-client-request-id': '7c0864bb-95bb-4510-865c-693fc971f05c' },
    'SharedKey packaccount:zfzKdrJ/qGLqpIHguZ+ozzh2+eO6G/F3xGhZfj77mXA=',
  ],
  [
    'a small blob that replaces one',
    'PUT',
    `${base}/a`,
    4,
    {
      'Content-Type': 'application/octet-stream',
      'x-ms-meta-sha256': 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
      'If-Match': '"0x8D"',
      'x-ms-blob-content-md5': 'BwcHBwcHBwcHBwcHBwcHBw==',
      'x-ms-blob-type': 'BlockBlob',
      'x-ms-client-request-id': 'c41df620-9dad-4bfc-9e48-21718121cd29',
    },
    'SharedKey packaccount:kcH2gqXLktgZMMck+Hilo4BRpGcLf1VJ1oExnzaOm68=',
  ],
  [
    'an empty blob that is new',
    'PUT',
    `${base}/a`,
    0,
    {
      'Content-Type': 'application/octet-stream',
      'x-ms-meta-sha256': 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
      'If-None-Match': '*',
      'x-ms-blob-content-md5': 'BwcHBwcHBwcHBwcHBwcHBw==',
      'x-ms-blob-type': 'BlockBlob',
      'x-ms-client-request-id': '69ea85d2-4343-4499-a7b4-1cb71bc4c4ee',
    },
    'SharedKey packaccount:dvfCDkP3PitojxT/vHOJoPjO/IK2XTMDIeQF10KIiks=',
  ],
  [
    'a block',
    'PUT',
    `${base}/a?comp=block&blockid=MDAwMDEtMDEyMzQ1Njc4OWFiY2RlZn5%2Bfj8%2BPj4%3D`,
    4,
    {
      'Content-Type': 'application/octet-stream',
      'Content-MD5': 'BwcHBwcHBwcHBwcHBwcHBw==',
      'x-ms-client-request-id': 'ddd2b34d-8d0c-403c-95c3-87bc035e24c8',
    },
    'SharedKey packaccount:suddzCtSe/8a/wJMNZMi0jlVxd2ewONXbcAYzJEKvLU=',
  ],
  [
    'a list of blocks',
    'PUT',
    `${base}/a?comp=blocklist`,
    120,
    {
      'Content-Type': 'application/xml',
      'x-ms-meta-sha256': 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
      'x-ms-blob-content-md5': 'BwcHBwcHBwcHBwcHBwcHBw==',
      'x-ms-client-request-id': '68896eb2-2517-493a-9a72-3a50a6ba520c',
    },
    'SharedKey packaccount:7okk3zUyd0xKSVN3S9n72bb7HjJ41NbFnxze/Qb7LY4=',
  ],
  [
    'a list of blobs at an emulator',
    'GET',
    'http://127.0.0.1:10000/packaccount/packs?comp=list&prefix=win%201%2F%C3%BC%2B%26&marker=2!76!MDAw%3D%3D&maxresults=1000&restype=container&include=metadata',
    0,
    { 'x-ms-client-request-id': '06bf658d-a878-4f26-a8ce-bcd00dd58e47' },
    'SharedKey packaccount:++Hw6y1iz9Oj87BP0cfJ0dQ5/q6Vrs5SHvPlAp0VE80=',
  ],
] as const)('signs %s as the client of Microsoft does', (_, method, url, size, headers, authorization) =>
  expect(createAuthorization(sharedKey, { method, url: new URL(url), size, headers: { ...common, ...headers } })).toBe(
    authorization,
  ),
)
