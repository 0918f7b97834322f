const assert = require('node:assert');
const { describe, it, test } = require('node:test');

describe('sums', () => {
  it('adds', () => {
    console.log('tests 99');
    assert.equal(1 + 1, 2);
  });
  it('adds again', () => assert.equal(2 + 1, 3));
  it('breaks', () => assert.equal(1 + 1, 3));
  it('waits', { skip: 'slow' }, () => {});
  it.todo('later');
});

test('stands alone', () => assert.ok(true));
