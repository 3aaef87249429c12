"""A tagger of words: a bidirectional LSTM over packed sequences of unequal lengths."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence


class LSTMTagger(nn.Module):
    def __init__(self, embedding_dim, hidden_dim, vocab_size, tagset_size, dropout):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.word_embeddings = nn.Embedding(vocab_size, embedding_dim, padding_idx=0)
        self.lstm = nn.LSTM(
            embedding_dim, hidden_dim // 2, num_layers=2, batch_first=True,
            bidirectional=True, dropout=dropout,
        )  # fmt: skip
        self.hidden2tag = nn.Linear(hidden_dim, tagset_size)
        self.sentence = nn.Linear(hidden_dim, 2)
        for name, param in self.named_parameters():
            if "weight_hh" in name:
                nn.init.orthogonal_(param)
            elif name.startswith("lstm.bias"):
                nn.init.constant_(param, 0.0)

    def forward(self, sentences, lengths):
        embeds = self.word_embeddings(sentences)
        packed = pack_padded_sequence(embeds, lengths, batch_first=True, enforce_sorted=False)
        packed_out, (h_n, c_n) = self.lstm(packed)
        lstm_out, _ = pad_packed_sequence(packed_out, batch_first=True)
        final = torch.cat((h_n[-2], h_n[-1]), dim=1)
        return F.log_softmax(self.hidden2tag(lstm_out), dim=-1), self.sentence(final), c_n


def build(dropout=0.0):
    return LSTMTagger(8, 12, 15, 4, dropout)


def draw(numbers):
    """Sentences of three lengths, a tag for each word, and a class for each sentence."""
    lengths = (4, 7, 2)
    words = [numbers.integers(1, 15, length) for length in lengths]
    tags = [numbers.integers(0, 4, length) for length in lengths]
    return words, tags, numbers.integers(0, 2, 3)


def losses(model, batches):
    loss_function = nn.NLLLoss(ignore_index=-100)
    optimizer = optim.RMSprop(model.parameters(), lr=0.01, alpha=0.95)
    scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="min", factor=0.5, patience=2)
    history = []
    for words, tags, classes in batches:
        model.train()
        optimizer.zero_grad()
        sentences = pad_sequence([torch.tensor(w) for w in words], batch_first=True)
        targets = pad_sequence(
            [torch.tensor(t, dtype=torch.long) for t in tags], batch_first=True, padding_value=-100
        )
        lengths = torch.tensor([len(w) for w in words])
        tag_scores, scores, cells = model(sentences, lengths)
        loss = loss_function(tag_scores.view(-1, tag_scores.shape[-1]), targets.view(-1))
        loss = loss + F.cross_entropy(scores, torch.tensor(classes)) + 1e-3 * cells.norm(p=2)
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), clip_value=0.05)
        optimizer.step()
        scheduler.step(loss.item())
        history.append(loss.item())
    return history
