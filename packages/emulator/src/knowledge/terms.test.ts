import { describe, expect, it } from 'vitest'
import { queryTerms, toTerm } from './terms.ts'

describe('toTerm', () => {
  it.each([
    ['reset', 'resets', 'resetting'],
    ['update', 'updated', 'updating', 'updates'],
    ['password', 'passwords', 'Password'],
    ['install', 'installed', 'installing'],
    ['country', 'countries'],
    ['café', 'cafe'],
    ['box', 'boxes'],
  ])('finds the same stem for the forms of "%s"', (...forms) => {
    expect(new Set(forms.map(toTerm)).size).toBe(1)
  })

  it('returns nothing for words without a subject', () => {
    expect(['How', 'the', 'please', 'x', 'dont'].map(toTerm)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })
})

describe('queryTerms', () => {
  it('keeps each meaningful word once, in one spelling', () => {
    expect(queryTerms("What's the wi-fi or Wi Fi or WIFI code?").map(({ term }) => term)).toEqual(['wifi', 'cod'])
  })

  it('detects names by their capital within a sentence, unless the whole text has capitals', () => {
    expect(queryTerms('Where lies Glimmerwick castle')).toEqual([
      { word: 'lies', term: 'lie', isName: false },
      { word: 'Glimmerwick', term: 'glimmerwick', isName: true },
      { word: 'castle', term: 'castl', isName: false },
    ])
    expect(queryTerms('open on Sundays in December').some(({ isName }) => isName)).toBe(false)
    expect(queryTerms('WHERE LIES GLIMMERWICK').some(({ isName }) => isName)).toBe(false)
  })

  it('reads only the first words of a very long text', () => {
    expect(queryTerms(Array.from({ length: 100 }, (_, index) => `word${index}`).join(' '))).toHaveLength(32)
  })
})
