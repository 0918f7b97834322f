test('stands alone', () => expect('a').toBe('a'));
