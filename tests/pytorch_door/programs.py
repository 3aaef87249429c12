"""Programs that print; a line of === ends each."""

FUNCTIONS = """
class Pair(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.set_materialize_grads(False)
        return a * 1, b * 1
    @staticmethod
    def backward(ctx, g, h):
        print(g, h)
        return g, h
x, w = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
y, z = Pair.apply(x, w)
z.sum().backward(retain_graph=True)
y.sum().backward()
print(x.grad, w.grad)
===
class Triple(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.mark_dirty(a)
        ctx.save_for_backward(a.mul_(3))
        return a
    @staticmethod
    def backward(ctx, g):
        print(ctx.saved_tensors[0].detach())
        return g * 3
x = torch.ones(3, requires_grad=True)
y = x * 1
part = y[1:]
z = Triple.apply(y)
print(z is y, z.detach(), part.detach())
(part * torch.tensor([5.0, 7.0])).sum().backward()
print(x.grad)
y = torch.ones(2)
print(Triple.apply(y) is y, y)
y = x.exp()
Triple.apply(y)
y.sum().backward()
===
class Into(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.mark_dirty(b)
        return a * 2, b.add_(a)
    @staticmethod
    def backward(ctx, g, h):
        return g * 2 + h, h
x, b = torch.ones(3, requires_grad=True), torch.zeros(3)
u, v = Into.apply(x, b)
print(v is b, b.requires_grad, b.detach())
(u + v * 5).sum().backward()
print(x.grad)
Into.apply(b, x)
===
x = torch.ones(3, requires_grad=True)
y = torch.cat([x.reshape(1, 3), x.unsqueeze(0)]).permute(1, 0).sum() - 3
y.backward()
y.backward()
print(x.grad)
y = x.exp().sum()
y.backward()
y.backward()
"""

PROGRAMS = [text.strip() for texts in (FUNCTIONS,) for text in texts.split("===\n")]
