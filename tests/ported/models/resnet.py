"""A residual network: `inplace=True`, `out += identity`, batch normalization, SGD."""

import torch
from torch import nn, optim


def conv3x3(in_planes: int, out_planes: int, stride: int = 1) -> nn.Conv2d:
    """3x3 convolution with padding."""
    return nn.Conv2d(in_planes, out_planes, kernel_size=3, stride=stride, padding=1, bias=False)


class BasicBlock(nn.Module):
    def __init__(self, inplanes, planes, stride=1, downsample=None):
        super().__init__()
        self.conv1 = conv3x3(inplanes, planes, stride)
        self.bn1 = nn.BatchNorm2d(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = downsample

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        identity = x if self.downsample is None else self.downsample(x)
        out += identity
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self, layers, num_classes=4, dropout=0.0):
        super().__init__()
        self.inplanes = 8
        self.conv1 = nn.Conv2d(3, 8, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(self.inplanes)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = self._make_layer(8, layers[0])
        self.layer2 = self._make_layer(16, layers[1], stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.drop = nn.Dropout(dropout, inplace=True)
        self.fc = nn.Linear(16, num_classes)

        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(m, (nn.BatchNorm2d, nn.GroupNorm)):
                nn.init.constant_(m.weight, 1)
                nn.init.constant_(m.bias, 0)

    def _make_layer(self, planes, blocks, stride=1):
        downsample = None
        if stride != 1 or self.inplanes != planes:
            conv = nn.Conv2d(self.inplanes, planes, 1, stride, bias=False)
            downsample = nn.Sequential(conv, nn.BatchNorm2d(planes))
        layers = [BasicBlock(self.inplanes, planes, stride, downsample)]
        self.inplanes = planes
        for _ in range(1, blocks):
            layers.append(BasicBlock(planes, planes))
        return nn.Sequential(*layers)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.avgpool(self.layer2(self.layer1(x)))
        return self.fc(self.drop(torch.flatten(x, 1)))


def build(dropout=0.0):
    return ResNet([1, 2], dropout=dropout)


def draw(numbers):
    """Images and their classes."""
    return numbers.standard_normal((4, 3, 16, 16)), numbers.integers(0, 4, 4)


def losses(model, batches):
    criterion = nn.CrossEntropyLoss()
    options = {"momentum": 0.9, "weight_decay": 1e-4, "nesterov": True}
    optimizer = optim.SGD(model.parameters(), lr=0.05, **options)
    scheduler = optim.lr_scheduler.MultiStepLR(optimizer, milestones=[2, 4], gamma=0.5)
    history = []
    for epoch, (inputs, labels) in enumerate(batches):
        model.train()
        inputs, labels = torch.from_numpy(inputs), torch.from_numpy(labels).long()
        optimizer.zero_grad()
        outputs = model(inputs)
        _, predicted = torch.max(outputs.data, dim=1)
        correct = predicted.eq(labels).sum().item()
        assert 0 <= correct <= labels.size(0), epoch
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        scheduler.step()
        history.append(loss.item())
    return history
